"""One tenant cannot stop the others: seven attacks, each beside a victim with ten requests a second.

The victim reads, writes, calls a tool over MCP and opens a stream. A request fails when it is not answered with
success, or when the answer names something that failed. The control is the same build without the limits.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import statistics
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import aiohttp
import asyncpg

from proofs.attackers import ATTACKS
from proofs.ground import Ground, ground
from tests.support.cluster import Cluster

PER_SECOND = 10.0
MOST_OVER_ALONE = 1.5
_ONSET_SECONDS = 2.0
_REST_SECONDS = 2.0
# With the limits taken away, these attacks must show.
_OF_CONTROL = ("idle streams", "crafted questions", "flood")
_WITHOUT_LIMITS = {"SCRUBJAY_STREAMS_PER_KEY": "10000", "SCRUBJAY_STREAMS_PER_TENANT": "10000"}
_MCP = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
_LAST_MEMORY = "select coalesce(max(id), 0) from memory.agent_memory where tenant = 'victim'"
_LARGEST_FAIR_ID = 2**40


@dataclass
class Seen:
    """What a victim saw of its requests."""

    seconds: list[float] = field(default_factory=list)
    failures: list[str] = field(default_factory=list)

    def p99(self) -> float:
        ordered = sorted(self.seconds)
        return ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))] if ordered else float("inf")


@dataclass
class Outcome:
    failures: list[str]
    over_alone: float
    """The victim's p99 during the attack over its p99 alone: the median of the rounds."""

    @property
    def failed(self) -> int:
        return len(self.failures)

    def holds(self, most: float) -> bool:
        return not self.failures and self.over_alone <= most


class Victim:
    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session
        self._numbers = itertools.count()

    async def run(self, seconds: float) -> Seen:
        """Ten requests a second, whatever their answers do."""
        seen, loop = Seen(), asyncio.get_running_loop()
        begun = loop.time()
        tasks = []
        for number in range(int(seconds * PER_SECOND)):
            await asyncio.sleep(max(0.0, begun + number / PER_SECOND - loop.time()))
            tasks.append(asyncio.create_task(self._request(next(self._numbers), seen)))
        await asyncio.gather(*tasks)
        return seen

    async def _request(self, number: int, seen: Seen) -> None:
        kinds = (
            self._ask,
            self._write,
            self._ask,
            self._call,
            self._ask,
            self._stream,
            self._ask,
            self._commit,
        )
        kind = kinds[number % len(kinds)]
        started = time.perf_counter()
        try:
            async with asyncio.timeout(10):
                failure = await kind(number)
        except (aiohttp.ClientError, TimeoutError) as error:
            failure = type(error).__name__
        seen.seconds.append(time.perf_counter() - started)
        if failure:
            seen.failures.append(f"{kind.__name__.strip('_')}: {failure}")

    async def _ask(self, number: int) -> str:
        question = f"What happened to the orders database in run {number % 50}?"
        body = {"query": question, "caller": "agent-0", "mission_namespace": "orders"}
        return await self._post("/api/context/assemble", body)

    async def _write(self, number: int) -> str:
        body = {"context_type": "intel", "mission_id": "orders", "intel_source": "proof"}
        return await self._post("/api/psychic-cache/write", {**body, "content": f"Run {number} failed over."})

    async def _commit(self, number: int) -> str:
        body = {"agent_name": "agent-0", "memory_type": "lesson_learned"}
        return await self._post(
            "/api/agent-memory/commit", {**body, "content": f"Run {number} lost its lease."}
        )

    async def _call(self, number: int) -> str:
        arguments = {"query": f"What did run {number % 50} lose?", "caller": "agent-0"}
        params = {"name": "assemble_context", "arguments": arguments}
        body = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        return await self._post("/mcp", body, headers=_MCP)

    async def _stream(self, _: int) -> str:
        headers = {"accept": "text/event-stream"}
        async with self._session.get("/api/timeline", headers=headers) as response:
            if response.status == 200:
                await response.content.readline()
            return "" if response.status == 200 else str(response.status)

    async def _post(self, path: str, body: Any, **options: Any) -> str:
        async with self._session.post(path, json=body, **options) as response:
            answer = await response.json(content_type=None)
        if response.status >= 300:
            return str(response.status)
        answer = answer.get("result", answer)
        if answer.get("isError") or answer.get("degraded"):
            return f"degraded: {answer.get('degraded', answer.get('content'))}"
        return ""


async def _keys(cluster: Cluster) -> dict[str, dict[str, str]]:
    """Tokens by tenant and access."""
    made: dict[str, dict[str, str]] = {"victim": {}, "noisy": {}}
    async with cluster.client("admin") as client:
        for tenant, access in itertools.product(made, ("read", "admin")):
            body = {"name": access, "tenant": tenant, "access": access}
            answer = await client.post("/api/context/keys", body)
            assert answer.status == 201, answer
            made[tenant][access] = answer.body["token"]
    return made


@asynccontextmanager
async def _attack(name: str, cluster: Cluster, keys: dict[str, str]) -> AsyncIterator[None]:
    environment = {
        **os.environ,
        "ATTACK_URL": cluster.url(),
        "ATTACK_WRITE": keys["admin"],
        "ATTACK_READ": keys["read"],
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "proofs.attackers", name, env=environment, stderr=asyncio.subprocess.DEVNULL
    )
    try:
        await asyncio.sleep(_ONSET_SECONDS)
        yield
        assert process.returncode is None, f"the attacker ended by itself: {name}"
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()
        await asyncio.sleep(_REST_SECONDS)


async def _outcomes(
    cluster: Cluster, names: tuple[str, ...], seconds: float, rounds: int
) -> dict[str, Outcome]:
    keys = await _keys(cluster)
    headers = {"authorization": f"Bearer {keys['victim']['admin']}"}
    outcomes = {}
    async with aiohttp.ClientSession(cluster.url(), headers=headers) as session:
        victim = Victim(session)
        await victim.run(seconds)
        for name in names:
            failures, ratios = [], []
            for _ in range(rounds):
                alone = await victim.run(seconds)
                async with _attack(name, cluster, keys["noisy"]):
                    attacked = await victim.run(seconds)
                failures += attacked.failures
                ratios.append(attacked.p99() / alone.p99())
            outcomes[name] = Outcome(failures, statistics.median_low(ratios))
            _print(name, outcomes[name])
    return outcomes


def _print(name: str, outcome: Outcome) -> None:
    first = f"  ({outcome.failures[0]})" if outcome.failures else ""
    print(f"  {name:20} p99 {outcome.over_alone:6.2f} x alone, {outcome.failed:4} failed{first}", flush=True)


async def _control(ground: Ground, seconds: float) -> dict[str, Outcome]:
    print("\nwithout the limits")
    control = Cluster(ground.database, ground.valkey.url, ground.folder, settings=_WITHOUT_LIMITS)
    for service in control.all:
        service.variables["BENCH_SERVICE"] = service.module.removeprefix("services.")
        service.module = "proofs.without_limits"
    async with control:
        return await _outcomes(control, _OF_CONTROL, seconds, 1)


async def prove(ground: Ground, short: bool) -> dict[str, Any]:
    seconds, rounds = (6.0, 1) if short else (20.0, 3)
    control = await _control(ground, seconds)
    print("\nwith the limits")
    async with Cluster(ground.database, ground.valkey.url, ground.folder) as cluster:
        outcomes = await _outcomes(cluster, tuple(ATTACKS), seconds, rounds)
    connection = await asyncpg.connect(ground.database.admin)
    last = await connection.fetchval(_LAST_MEMORY)
    await connection.close()
    # In its short form, a run has too few requests for a p99.
    most = float("inf") if short else MOST_OVER_ALONE
    violated = [name for name, outcome in outcomes.items() if not outcome.holds(most)]
    if last > _LARGEST_FAIR_ID:
        violated.append(f"imported ids moved the sequence to {last}")
    return {
        "failed": sum(outcome.failed for outcome in outcomes.values()),
        "p99_over_alone": {name: round(outcome.over_alone, 2) for name, outcome in outcomes.items()},
        "violated": violated,
        "control_failed": sum(outcome.failed for outcome in control.values()),
        "control_p99_over_alone": {name: round(outcome.over_alone, 2) for name, outcome in control.items()},
        "control_violated": [name for name, one in control.items() if not one.holds(MOST_OVER_ALONE)],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--short", action="store_true", help="the form for every change")
    given = parser.parse_args()
    started = time.monotonic()
    with ground() as stands_on:
        figures = asyncio.run(prove(stands_on, given.short))
    figures["seconds"] = round(time.monotonic() - started, 1)
    print()
    print(json.dumps({"fairness": figures}))
    sys.exit(bool(figures["violated"]) or not figures["control_violated"])


if __name__ == "__main__":
    main()
