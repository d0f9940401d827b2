"""Two replicas of each service behind a round-robin: any replica answers any request."""

import asyncio
import itertools
import signal
import time
from collections.abc import AsyncIterator
from decimal import Decimal
from pathlib import Path

import aiohttp
import pytest

from local.process import wait_for
from tests.conftest import Servers
from tests.support.calls import Json, Stream, lesson, metric, nine, note, page_through, question, until
from tests.support.cluster import Answer, Client, Cluster
from tests.support.clusters import own_cluster
from tests.support.mcp.calls import Ledger, killed_midway, make_room, plan, run_python, unlike
from tests.support.mcp.client import ERAS

REQUESTS = "scrubjay_http_requests_total"
MCP_CALLS = 60


@pytest.fixture(scope="module")
async def pair(
    servers: Servers, template: str, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Cluster]:
    folder: Path = tmp_path_factory.mktemp("replicas")
    async with own_cluster("replicas", servers, template, folder, replicas=2) as cluster:
        yield cluster


async def test_the_whole_public_path(pair: Cluster) -> None:
    mission = "failover"
    async with pair.client("write") as agent, pair.client("admin") as admin:
        async with Stream(agent, f"/api/timeline?mission={mission}&after=0") as stream:
            for body in nine(mission):
                written = await agent.post("/api/psychic-cache/write?wait=indexed", body)
                assert written.status == 201, written
                assert written.body["data"]["indexed"]
            await _commits_twice(agent)
            await _finds(agent, mission)
            assembly = await _assembles(agent, mission)
            await _feeds_back(agent, assembly)
            pages = await until(lambda: _pages_as_streamed(agent, mission, 10, stream))
        assert sorted(event["kind"] for event in pages).count("cache_write") == 9
        receipt = await admin.post("/api/context/purge", {"scope": f"mission:{mission}"})
        assert receipt.status == 200, receipt
        assert receipt.body["erased"]["cache"]["psychic_cache"] == 9
        gone = await agent.get(f"/api/psychic-cache/{mission}/entries")
        assert gone.body["data"] == []
        assert await page_through(agent, f"/api/timeline?mission={mission}") == []
    await _both_replicas_answered(pair)


async def _commits_twice(agent: Client) -> None:
    body = lesson("scout", "Promote the orders replica only after its lag is below one second.")
    first = await agent.post("/api/agent-memory/commit", body)
    again = await agent.post("/api/agent-memory/commit", body)
    assert (first.status, first.body["status"]) == (201, "created"), first
    assert (again.status, again.body["status"]) == (201, "updated"), again
    assert again.body["memory_id"] == first.body["memory_id"]


async def _finds(agent: Client, mission: str) -> None:
    found = await agent.post(
        "/api/psychic-cache/query", {"mission_id": mission, "query": "orders database failover"}
    )
    assert found.status == 200, found
    assert len(found.body["data"]["entries"]) == 9
    own = await agent.post(
        "/api/agent-memory/query", {"agent_name": "scout", "query": "when to promote the replica"}
    )
    assert len(own.body["memories"]) == 1, own
    kept = await agent.get(f"/api/psychic-cache/checkpoint/{mission}-session")
    assert kept.body["data"]["context_type"] == "thread_checkpoint", kept


async def _assembles(agent: Client, mission: str) -> Json:
    answer = await agent.post("/api/context/assemble", question(mission, fill=True))
    assert answer.status == 200, answer
    assert answer.body["degraded"] == []
    assert {source["store"] for source in answer.body["sources"]} == {"psychic_cache", "agent_memory_own"}
    body: Json = answer.body
    return body


async def _feeds_back(agent: Client, assembly: Json) -> None:
    used = [source["handle"] for source in assembly["sources"][:2]]
    answer = await agent.post(
        "/api/context/feedback", {"assembly_id": assembly["assembly_id"], "used_source_ids": used}
    )
    assert (answer.status, answer.body) == (200, {"success": True, "accepted": 2})


async def _pages_as_streamed(agent: Client, mission: str, count: int, stream: Stream) -> list[Json]:
    events = await page_through(agent, f"/api/timeline?mission={mission}", limit=4)
    assert len(events) >= count
    assert [event["seq"] for event in events] == stream.ids
    return events


async def _both_replicas_answered(pair: Cluster) -> None:
    for service in pair.all:
        async with aiohttp.ClientSession() as session, session.get(service.url + "/metrics") as response:
            page = await response.text()
        probes = sum(metric(page, REQUESTS, {"route": route}) for route in ("/readyz", "/metrics"))
        assert metric(page, REQUESTS) > probes, service.url


class Load:
    """Callers that go on until told to stop; remembers every answer with the time it was asked for."""

    def __init__(self, client: Client, mission: str) -> None:
        self._client = client
        self._mission = mission
        self._stopping = False
        self._numbers = itertools.count()
        self.answers: list[tuple[float, str, Answer | aiohttp.ClientError]] = []
        self.keys: dict[str, Json] = {}

    async def run(self, callers: int) -> None:
        await asyncio.gather(*(self._caller() for _ in range(callers)))

    def stop(self) -> None:
        self._stopping = True

    async def _caller(self) -> None:
        while not self._stopping:
            number = next(self._numbers)
            kind = ("write", "assemble", "query", "page")[number % 4]
            asked = time.monotonic()
            try:
                answer: Answer | aiohttp.ClientError = await self._call(kind, number)
            except aiohttp.ClientError as error:
                answer = error
            self.answers.append((asked, kind, answer))

    async def _call(self, kind: str, number: int) -> Answer:
        if kind == "write":
            key = f"{self._mission}-{number}"
            self.keys[key] = note(self._mission, f"finding number {number} about the orders database")
            return await self.write(key)
        if kind == "assemble":
            return await self._client.post("/api/context/assemble", question(self._mission))
        if kind == "query":
            return await self._client.post(
                "/api/agent-memory/query", {"agent_name": "scout", "query": "orders replica lag"}
            )
        return await self._client.get(f"/api/timeline?mission={self._mission}")

    async def write(self, key: str) -> Answer:
        return await self._client.post(
            "/api/psychic-cache/write", self.keys[key], headers={"idempotency-key": key}
        )


def _well(kind: str, answer: Answer | aiohttp.ClientError) -> bool:
    if not isinstance(answer, Answer) or answer.status not in (200, 201):
        return False
    return kind != "assemble" or answer.body["degraded"] == []


CALLERS = 6


async def test_one_replica_of_each_is_restarted(pair: Cluster) -> None:
    """All that a caller may notice is a kept connection that ends as he writes to it."""
    async with pair.client("write") as agent, pair.client("admin") as admin:
        load = await _roomy(agent, admin, "restarted")
        running = asyncio.create_task(load.run(CALLERS))
        await _goes_on(load)
        leaving = [replicas[1] for replicas in pair.replicas.values()]
        for service in leaving:
            service.send(signal.SIGTERM)
        assert await asyncio.to_thread(wait_for, lambda: not any(s.running for s in leaving), 10)
        await _goes_on(load)
        await pair.start(*leaving)
        await _goes_on(load)
        load.stop()
        await running
        bad = [(kind, answer) for _, kind, answer in load.answers if not _well(kind, answer)]
        assert len(bad) <= CALLERS, bad
        for key in load.keys:
            assert (await load.write(key)).status == 201
        stats = await agent.get("/api/psychic-cache/restarted/stats")
        assert stats.body["data"]["written_count"] == len(load.keys)


async def test_any_mcp_client_works_on_any_replica(pair: Cluster) -> None:
    """The short form of `make proof-mcp`, which has the TypeScript SDK too: a replica is killed midway."""
    ledgers = [Ledger(era) for era in ERAS]
    async with pair.client("admin") as rest:
        await make_room(rest)
        runs = [
            run_python(pair.url(), pair.tokens.write, one.client, plan(MCP_CALLS, one.client, 1), one)
            for one in ledgers
        ]
        await asyncio.gather(killed_midway(pair, ledgers, MCP_CALLS), *runs)
        assert [one.lost for one in ledgers] == [[], []]
        assert [one.done for one in ledgers] == [MCP_CALLS, MCP_CALLS]
        assert await unlike(rest, ledgers) == 0
    await pair.start(pair.replicas["context"][1])


async def test_one_replica_of_each_is_killed(pair: Cluster) -> None:
    async with pair.client("write") as agent, pair.client("admin") as admin:
        load = await _roomy(agent, admin, "killed")
        running = asyncio.create_task(load.run(CALLERS))
        await _goes_on(load)
        for replicas in pair.replicas.values():
            replicas[1].send(signal.SIGKILL)
        killed = time.monotonic()
        seen = len(load.answers)
        await until(lambda: _answered(load, seen + 100))
        load.stop()
        await running
        bad = [(at - killed, kind, answer) for at, kind, answer in load.answers if not _well(kind, answer)]
        # Only what was under way on a replica when it died, or met a connection whose end was not seen yet.
        assert len(bad) <= len(pair.replicas) * CALLERS, bad
        assert [one for one in bad if one[0] > 0.5] == []
        for key in load.keys:
            assert (await load.write(key)).status == 201
        stats = await agent.get("/api/psychic-cache/killed/stats")
        assert stats.body["data"]["written_count"] == len(load.keys)


async def _goes_on(load: Load) -> None:
    seen = len(load.answers)
    await until(lambda: _answered(load, seen + 40))


async def _roomy(agent: Client, admin: Client, mission: str) -> Load:
    limits = {"entry_budget": 100_000, "token_budget": 10_000_000}
    assert (await admin.call("PUT", f"/api/psychic-cache/{mission}/limits", limits)).status == 200
    return Load(agent, mission)


async def _answered(load: Load, count: int) -> None:
    assert len(load.answers) >= count


async def test_a_ceiling_holds_for_both_replicas(pair: Cluster) -> None:
    """Thirty callers ask for an allowance, spend and ask again: beyond the ceiling only what was under way."""
    costs, most, calls = "/api/context/costs", 30, Decimal("0.02")
    async with pair.client("admin") as admin:
        ceiling = {"mission_id": "thrift", "limit_usd": "1"}
        assert (await admin.call("PUT", f"{costs}/ceilings", ceiling)).status == 200

        async def spend() -> int:
            for made in itertools.count():
                asked = await admin.get(f"{costs}/allowance?mission=thrift")
                if asked.status == 429:
                    assert asked.body["limit"] == "ceiling mission:thrift day"
                    return made
                call = {"model": "any", "mission": "thrift", "agent": "scout", "cost_usd": str(calls)}
                assert (await admin.post(costs, call)).status == 201
            raise AssertionError

        made = sum(await asyncio.gather(*(spend() for _ in range(most))))
        listed = (await admin.get(f"{costs}/ceilings")).body["data"]
        (state,) = [one for one in listed if one["subject"] == "mission:thrift"]
        print(f"ceiling 1, spent {state['spent_usd']} by {most} callers of two replicas")
        assert Decimal(state["spent_usd"]) == made * calls
        assert 1 <= made * calls <= 1 + (most - 1) * calls
