"""SIGTERM: what is under way is answered, streams end where another replica goes on, the exit is clean."""

import asyncio
import itertools
import signal
import socket
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress

import aiohttp
import asyncpg
import pytest

from local.database import Database
from local.process import ProcessFailedError, free_port, wait_for
from local.services import Service
from shared.auth import Principal
from tests.support.calls import Stream, lesson, metric, note, page_through, until
from tests.support.cluster import Answer, Client, Cluster
from tests.support.clusters import locked, spare

DRAIN_SECONDS = 10
IN_FLIGHT = 5
COMMITS = "/api/timeline?kind=memory_commit"


async def test_context_drains(cluster: Cluster, database: Database) -> None:
    async with (
        spare(cluster, "context") as leaving,
        cluster.client("write") as agent,
        Client(leaving.url, cluster.tokens.write) as late,
        _committing(agent),
        Stream(late, COMMITS) as stream,
    ):
        await until(lambda: _has(stream, 5))
        async with locked(database, "cache.psychic_cache"):
            calls = await _under_way(late, leaving, "cache")
            readiness = asyncio.create_task(_readiness(leaving))
            asked = _sigterm(leaving)
            await stream.ended(DRAIN_SECONDS)
        assert [answer.status for answer in await calls] == [201] * IN_FLIGHT
        await _exits(leaving, asked)
        assert (await readiness)[-1] == 503
        assert stream.broken is None
        assert stream.last_line.startswith("retry: ")
        async with Stream(agent, COMMITS, after=stream.ids[-1]) as resumed:
            await until(lambda: _has(resumed, 5))
    read = stream.ids + resumed.ids
    async with cluster.client("read") as agent:
        written = [event["seq"] for event in await page_through(agent, COMMITS)]
    assert read == [seq for seq in written if read[0] <= seq <= read[-1]]


@pytest.mark.parametrize(
    ("name", "table"), [("cache", "cache.psychic_cache"), ("agent_memory", "memory.agent_memory")]
)
async def test_an_owner_drains(cluster: Cluster, database: Database, name: str, table: str) -> None:
    caller = Principal("default", "e2e", frozenset({"read", "write"}))
    async with spare(cluster, name) as leaving, Client(leaving.url, None) as context:
        context.session.headers.update(cluster.tokens.identity(name, caller))
        async with locked(database, table):
            calls = await _under_way(context, leaving, name)
            readiness = asyncio.create_task(_readiness(leaving))
            asked = _sigterm(leaving)
            await asyncio.wait_for(readiness, 5)
        assert [answer.status for answer in await calls] == [201] * IN_FLIGHT
        await _exits(leaving, asked)
        assert readiness.result()[-1] == 503


FLOOD = """
insert into timeline.events (tenant, scope, kind, payload)
select 'default', 'mission:flood', 'flood', jsonb_build_object('filler', repeat('x', 3000))
from generate_series(1, 4000)
"""
DRY = "delete from timeline.events where kind = 'flood'"
NUMBERED = "select count(*) from timeline.events where kind = 'flood' and seq is not null"


async def test_a_reader_that_reads_nothing_is_left(cluster: Cluster, database: Database) -> None:
    connection = await asyncpg.connect(database.admin)
    try:
        await connection.execute(FLOOD)

        async def numbered() -> None:
            assert await connection.fetchval(NUMBERED) == 4_000

        await until(numbered)
        async with spare(cluster, "context") as leaving:
            with _deaf_reader(leaving, cluster.tokens.read, "/api/timeline?kind=flood&after=0"):
                await until(lambda: _streams(leaving))
                await asyncio.sleep(1)  # every buffer on the way is full
                await _exits(leaving, _sigterm(leaving))
    finally:
        await connection.execute(DRY)
        await connection.close()


@contextmanager
def _deaf_reader(service: Service, token: str, path: str) -> Iterator[None]:
    with socket.socket() as reader:
        reader.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2_048)
        reader.connect(("127.0.0.1", service.port))
        lines = [
            f"GET {path} HTTP/1.1",
            "Host: x",
            "Accept: text/event-stream",
            f"Authorization: Bearer {token}",
        ]
        reader.sendall("\r\n".join([*lines, "", ""]).encode())
        yield


async def _streams(service: Service) -> None:
    async with Client(service.url, None) as probe:
        assert metric((await probe.get("/metrics")).body, "scrubjay_http_streams_open") == 1


async def test_a_service_that_cannot_start_does_not_end_with_0(cluster: Cluster) -> None:
    with pytest.raises(ProcessFailedError, match="ended with 3"):
        async with spare(cluster, "cache", DATABASE_URL=f"postgresql://nobody@127.0.0.1:{free_port()}/none"):
            pass


async def _under_way(agent: Client, service: Service, owner: str) -> "asyncio.Future[list[Answer]]":
    """Writes that wait for a lock, once `service` has them all."""
    path = {"cache": "/api/psychic-cache/write", "agent_memory": "/api/agent-memory/commit"}[owner]
    bodies = [
        note("drain", f"number {number}")
        if owner == "cache"
        else lesson("drain", f"Of {number} things {number} are under way at {service.port}.")
        for number in range(IN_FLIGHT)
    ]
    calls = asyncio.gather(*(agent.post(path, body) for body in bodies))

    async def all_in() -> None:
        async with Client(service.url, None) as probe:
            page = (await probe.get("/metrics")).body
        assert metric(page, "scrubjay_http_requests_in_flight") >= IN_FLIGHT

    await until(all_in)
    return calls


def _sigterm(service: Service) -> float:
    service.send(signal.SIGTERM)
    return time.monotonic()


async def _exits(service: Service, asked: float) -> None:
    left = DRAIN_SECONDS - (time.monotonic() - asked)
    assert await asyncio.to_thread(wait_for, lambda: not service.running, left)
    assert service.returncode == 0


async def _readiness(service: Service) -> list[int]:
    """What /readyz says until nobody listens."""
    seen: list[int] = []
    connector = aiohttp.TCPConnector(limit=1)
    async with aiohttp.ClientSession(service.url, connector=connector) as session:
        with suppress(aiohttp.ClientError):
            while True:
                async with session.get("/readyz") as response:
                    seen.append(response.status)
                await asyncio.sleep(0.01)
    return seen


async def _has(stream: Stream, count: int) -> None:
    assert len(stream.ids) >= count


@asynccontextmanager
async def _committing(agent: Client) -> AsyncIterator[None]:
    """Events all the while."""

    async def commit() -> None:
        for number in itertools.count():
            body = lesson("drain", f"Lesson {number} of {time.time_ns()}.")
            assert (await agent.post("/api/agent-memory/commit", body)).status == 201
            await asyncio.sleep(0.02)

    task = asyncio.create_task(commit())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
