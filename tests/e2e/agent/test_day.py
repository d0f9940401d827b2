"""An agent's day over all its channels stands kills."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from scrubjay.client import AsyncClient
from tests.support.agent.bot_api import FakeBotApi
from tests.support.agent.day import Day, lived, orders, show, wrong
from tests.support.agent.process import AgentProcess, settings_text
from tests.support.agent.provider import FakeProvider
from tests.support.cluster import Cluster

MESSAGES, KILLS, SECONDS, SEED = 28, 3, 6.0, 21


@pytest.mark.parametrize("kind", ["anthropic", "openai"])
async def test_kills_lose_and_repeat_nothing(cluster: Cluster, tmp_path: Path, kind: str) -> None:
    name = f"jay-{kind}"
    agent = AgentProcess(tmp_path, cluster.url(), cluster.tokens.write)
    async with FakeProvider() as provider, FakeBotApi() as bot, _client(cluster) as jay:
        agent.configure(settings_text(name, provider, agent.port, kind=kind, bot=bot))
        day = Day(agent, bot, random.Random(SEED), orders(MESSAGES))
        try:
            await lived(day, KILLS if kind == "anthropic" else 1, SECONDS)
            wrongs = await wrong(day, jay, name, provider)
        finally:
            await agent.stop()
        assert +wrongs == {}, show(day, wrongs)


def _client(cluster: Cluster) -> AsyncClient:
    return AsyncClient(cluster.url(), cluster.tokens.write)
