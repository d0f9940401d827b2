"""`make proof-agent`: a day of the agent over all its channels, killed again and again.

Messages come by Telegram (a fake Bot API), HTTP, `notify` and the terminal, and lead to calls of tools, sub-agents,
scheduled messages and silence, by both kinds of provider. Afterwards each message must be in the trail once and be
answered once, each call of a tool have its result, no number be missing, and costs be the provider's ledger. The
control is an agent that tells a channel that a message is kept before it is.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from pathlib import Path

from proofs.ground import Ground, Proof, run
from scrubjay.client import AsyncClient
from tests.support.agent.bot_api import FakeBotApi
from tests.support.agent.day import Day, lived, orders, show, wrong
from tests.support.agent.process import AgentProcess, settings_text
from tests.support.agent.provider import FakeProvider
from tests.support.cluster import Cluster

SEED = 21
_KINDS = ("anthropic", "openai")
# Messages, kills and seconds of a day.
_LONG, _SHORT = (120, 20, 60.0), (24, 2, 6.0)
_CONTROL = (28, 4, 8.0)


async def prove(ground: Ground, short: bool, seed: int) -> Proof:
    size = _SHORT if short else _LONG
    async with Cluster(ground.database, ground.valkey.url, ground.folder, settings=ground.vectors) as cluster:
        # Each agent mostly waits.
        control, *days = await asyncio.gather(
            _day(cluster, ground.folder / "control", "openai", _CONTROL, seed, "proofs.agent.hasty"),
            *(_day(cluster, ground.folder / kind, kind, size, seed) for kind in _KINDS),
        )
    wrongs = sum((wrongs for _, wrongs in days), Counter[str]())
    return Proof(
        n=sum(len(day.orders) for day, _ in days),
        faults=sum(day.kills for day, _ in days),
        violations=wrongs.total(),
        control_violations=control[1].total(),
        more={"wrong": dict(+wrongs), "control": dict(+control[1])},
    )


async def _day(
    cluster: Cluster,
    folder: Path,
    kind: str,
    size: tuple[int, int, float],
    seed: int,
    module: str = "scrubjay_agent",
) -> tuple[Day, Counter[str]]:
    messages, kills, seconds = size
    name = f"jay-{folder.name}"
    agent = AgentProcess(folder, cluster.url(), cluster.tokens.write, module)
    async with FakeProvider() as provider, FakeBotApi() as bot, _client(cluster) as jay:
        agent.configure(settings_text(name, provider, agent.port, kind=kind, bot=bot))
        day = Day(agent, bot, random.Random(seed), orders(messages))
        try:
            await lived(day, kills, seconds, patient=module == "scrubjay_agent")
            wrongs = await wrong(day, jay, name, provider)
        finally:
            await agent.stop()
    print(f"{name:16} {show(day, wrongs)}", flush=True)
    return day, +wrongs


def _client(cluster: Cluster) -> AsyncClient:
    return AsyncClient(cluster.url(), cluster.tokens.write)


if __name__ == "__main__":
    run("agent", SEED, prove)
