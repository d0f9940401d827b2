"""The time left goes from hop to hop, and what cannot be served in time is refused at once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest

from local.database import Database
from local.services import Service
from tests.support.calls import (
    BUSY_SLACK,
    PROBLEM,
    Stream,
    Timed,
    assert_unavailable,
    lesson,
    metric,
    note,
    question,
    timed,
    until,
    within,
)
from tests.support.cluster import Answer, Client, Cluster
from tests.support.clusters import locked, spare
from tests.support.recorder import Recorder

MISSION = "deadlines"
READ_MS, WRITE_MS = 2_000, 5_000
QUERY, COMMIT = "/api/psychic-cache/query", "/api/agent-memory/commit"


@pytest.fixture(scope="module")
async def cache(cluster: Cluster) -> AsyncIterator[Recorder]:
    async with Recorder(cluster.url("cache")) as recorder:
        yield recorder


@pytest.fixture(scope="module")
async def memory(cluster: Cluster) -> AsyncIterator[Recorder]:
    async with Recorder(cluster.url("agent_memory")) as recorder:
        yield recorder


@pytest.fixture(scope="module")
async def door(cluster: Cluster, cache: Recorder, memory: Recorder) -> AsyncIterator[Service]:
    """A context service that reaches the owners through the recorders."""
    urls = {"SCRUBJAY_CACHE_URL": cache.url, "SCRUBJAY_AGENT_MEMORY_URL": memory.url}
    async with spare(cluster, "context", **urls) as service:
        yield service


@pytest.fixture(scope="module")
async def agent(cluster: Cluster, door: Service) -> AsyncIterator[Client]:
    async with Client(door.url, cluster.tokens.write) as client:
        for content in ("the first finding", "the second finding"):
            assert (await client.post("/api/psychic-cache/write", note(MISSION, content))).status == 201
        yield client


@pytest.mark.parametrize(
    ("asked", "read", "write"),
    [
        ("1500", 1_500, 1_500),
        (None, READ_MS, WRITE_MS),
        ("600000", READ_MS, WRITE_MS),
        ("soon", READ_MS, WRITE_MS),
        ("-1", READ_MS, WRITE_MS),
    ],
)
async def test_an_owner_gets_the_time_left(
    agent: Client, cache: Recorder, memory: Recorder, asked: str | None, read: int, write: int
) -> None:
    headers = {} if asked is None else {"x-timeout-ms": asked}
    await agent.post("/api/context/assemble", question(MISSION), headers=headers)
    assert 0 < _left(cache, "/internal/search") < read
    assert 0 < _left(memory, "/internal/search") < read
    await agent.post(QUERY, {"mission_id": MISSION, "query": "finding"}, headers=headers)
    assert read / 2 < _left(cache, QUERY) < read
    await agent.post(COMMIT, lesson("scout", f"In {asked} ms."), headers=headers)
    assert write / 2 < _left(memory, COMMIT) < write


def _left(owner: Recorder, path: str) -> int:
    """Milliseconds that the last call of the path was given."""
    return int(owner.headers_of(path)["x-timeout-ms"])


async def test_an_owner_that_hangs_does_not_hold_the_caller(
    agent: Client, cache: Recorder, memory: Recorder
) -> None:
    cache.hang()
    try:
        for milliseconds in (300, 300, 700):
            headers = within(milliseconds)
            written = timed(agent.post("/api/psychic-cache/write", note(MISSION, "late"), headers=headers))
            listed = timed(agent.get(f"/api/psychic-cache/{MISSION}/entries", headers=headers))
            assembled = timed(agent.post("/api/context/assemble", question(MISSION), headers=headers))
            calls = await asyncio.gather(written, listed, assembled)
            assert [call for call in calls if call.seconds > milliseconds / 1000 + BUSY_SLACK] == []
            assert_unavailable(calls[0].answer, "cache")
            assert_unavailable(calls[1].answer, "cache")
            assert calls[2].status == 200
            assert [one["source"] for one in calls[2].answer.body["degraded"]] == ["psychic_cache"]
    finally:
        cache.go_on()


async def test_hurried_callers_hurt_nobody_else(cluster: Cluster) -> None:
    """Deadlines too short for anything are no sign that a server is ill."""
    async with cluster.client("write") as agent:

        async def answers(headers: dict[str, str]) -> tuple[Answer, ...]:
            return await asyncio.gather(
                agent.get("/api/timeline?after=0", headers=headers),
                agent.post("/api/context/assemble", question(MISSION), headers=headers),
                agent.post(
                    "/api/psychic-cache/query", {"mission_id": MISSION, "query": "finding"}, headers=headers
                ),
                agent.post("/api/agent-memory/list", {"agent_name": "scout"}, headers=headers),
            )

        for milliseconds in (0, 1, 2, 5):
            for _ in range(10):
                for answer in await answers(within(milliseconds)):
                    assert answer.status in (200, 503), answer
            for answer in await answers({}):
                assert answer.status == 200, answer
                assert answer.body.get("degraded", []) == []


IN_FLIGHT = 4
CALLERS = 40


async def test_a_full_context_service_refuses_at_once(cluster: Cluster) -> None:
    few = {"SCRUBJAY_IN_FLIGHT": str(IN_FLIGHT), "SCRUBJAY_STREAMS": str(4 * IN_FLIGHT)}
    async with (
        Recorder(cluster.url("cache")) as cache,
        spare(cluster, "context", SCRUBJAY_CACHE_URL=cache.url, **few) as service,
        Client(service.url, cluster.tokens.write) as agent,
    ):
        cache.hang()
        calls = _crowd(agent)
        await _probes_answer(service)
        done = await calls
        cache.go_on()
        for one in _refused_all_but(IN_FLIGHT, done):
            assert_unavailable(one.answer, "cache")
        # Streams wait, they do not work: they take nobody's place.
        async with AsyncExitStack() as streams:
            for _ in range(4 * IN_FLIGHT):
                await streams.enter_async_context(Stream(agent, "/api/timeline"))
            full = await agent.get("/api/timeline", headers={"accept": "text/event-stream"})
            assert full.status == 429
            assert (await agent.post("/api/psychic-cache/write", note(MISSION, "again"))).status == 201


async def test_a_full_owner_refuses_at_once(cluster: Cluster, database: Database) -> None:
    async with (
        spare(cluster, "cache", SCRUBJAY_IN_FLIGHT=str(IN_FLIGHT)) as cache,
        spare(cluster, "context", SCRUBJAY_CACHE_URL=cache.url) as service,
        Client(service.url, cluster.tokens.write) as agent,
    ):
        async with locked(database, "cache.psychic_cache"):
            calls = _crowd(agent)
            await _probes_answer(cache)
            assembled = await agent.post("/api/context/assemble", question(MISSION), headers=within(1000))
            assert assembled.body["degraded"] == [{"source": "psychic_cache", "reason": "cache overloaded"}]
            done = await calls
        for one in _refused_all_but(IN_FLIGHT, done):
            assert_unavailable(one.answer, "postgres", "cache")
        assert (await agent.post("/api/psychic-cache/write", note(MISSION, "again"))).status == 201


def _crowd(agent: Client) -> "asyncio.Future[list[Timed]]":
    body = {"mission_id": MISSION, "query": "finding"}
    return asyncio.gather(
        *(timed(agent.post("/api/psychic-cache/query", body, headers=within(1500))) for _ in range(CALLERS))
    )


async def _probes_answer(service: Service) -> None:
    async def full() -> None:
        page = (await probe.get("/metrics")).body
        assert metric(page, "scrubjay_http_requests_in_flight") >= IN_FLIGHT

    async with Client(service.url, None) as probe:
        await until(full)
        for path in ("/livez", "/readyz", "/metrics"):
            assert (await probe.get(path)).status == 200, path


def _refused_all_but(count: int, done: list[Timed]) -> list[Timed]:
    """The `count` that were let in; all others were refused without waiting."""
    refused = [one for one in done if one.status == 429]
    for one in refused:
        assert one.answer.headers["content-type"] == PROBLEM
        assert int(one.answer.headers["retry-after"]) >= 1
    let_in = [one for one in done if one.status != 429]
    assert len(let_in) == count
    first = min(one.started + one.seconds for one in let_in)
    assert all(one.started + one.seconds < first for one in refused), "it waited for its turn"
    return let_in
