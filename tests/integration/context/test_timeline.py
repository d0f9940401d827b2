"""The timeline is complete and in order for whoever reads by its number, whatever order events commit in."""

from __future__ import annotations

import asyncio
import itertools
import random
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, suppress
from typing import Any

import asyncpg
import pytest
from redis.asyncio import Redis

from local.database import Database
from services.context.timeline import queries
from shared.database.postgres import Connection
from tests.conftest import Servers
from tests.integration.conftest import Tenant
from tests.support.calls import Stream, note, page_through, pages, tokens_of, until
from tests.support.cluster import Client

WRITE = "/api/psychic-cache/write"
ALL = "/api/timeline?limit=1000"
WRITERS, EACH = 12, 60
SEED = 20260705

INSERT = """
insert into timeline.events (tenant, scope, kind, mission_id, agent_name, payload)
values ($1, 'mission:' || $2::text, 'test', $2, $3, jsonb_build_object('n', $4::int))
"""
EVERY = {"scrubjay.every_tenant": "on"}
BY_ID = "select id, payload from timeline.events where tenant = $1 and id > $2 order by id"


async def write_slowly(database: Database, tenant: str, number: int) -> list[int]:
    """Transactions that commit late, in another order than they began; some are rolled back."""
    chance = random.Random(SEED + number)
    connection = await asyncpg.connect(database.services["cache"], server_settings=EVERY)
    committed = []
    try:
        for n in range(EACH):
            transaction = connection.transaction()
            await transaction.start()
            await connection.execute(INSERT, tenant, "m", f"writer-{number}", number * 10_000 + n)
            await asyncio.sleep(chance.choice([0, 0, 0.001, 0.01, 0.05]))
            if chance.random() < 0.1:
                await transaction.rollback()
            else:
                await transaction.commit()
                committed.append(number * 10_000 + n)
    finally:
        await connection.close()
    return committed


class ById:
    """The control: a reader of what is committed, that goes on after the highest id it saw."""

    def __init__(self, connection: Connection, tenant: str) -> None:
        self._connection, self._tenant = connection, tenant
        self.seen: list[int] = []

    async def read_forever(self) -> None:
        last = 0
        while True:
            for id_, payload in await self._connection.fetch(BY_ID, self._tenant, last):
                self.seen.append(int(payload.split(":")[1].strip(" }")))
                last = id_
            await asyncio.sleep(0.001)


@pytest.fixture
async def look(database: Database) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(database.admin)
    yield connection
    await connection.close()


async def test_nothing_is_missed_and_all_is_in_order(
    database: Database, tenant: Tenant, client: Client, look: Connection
) -> None:
    control = ById(look, tenant.name)
    reading = asyncio.create_task(control.read_forever())
    async with Stream(client, "/api/timeline", after=0) as stream:
        committed = await asyncio.gather(
            *(write_slowly(database, tenant.name, number) for number in range(WRITERS))
        )
        expected = sorted(itertools.chain.from_iterable(committed))
        await until(lambda: _has(stream, len(expected)), 60)
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    assert len(expected) > 500
    assert sorted(event["payload"]["n"] for event in stream.events) == expected
    assert stream.ids == sorted(set(stream.ids)) == [event["seq"] for event in stream.events]
    pages = await page_through(client, ALL)
    assert pages == stream.events
    assert set(control.seen) < set(expected), f"the control missed nothing: it proves nothing ({SEED})"


async def _has(stream: Stream, count: int) -> None:
    assert len(stream.events) >= count, len(stream.events)


async def test_each_writers_own_order_is_kept(database: Database, tenant: Tenant, client: Client) -> None:
    await asyncio.gather(*(write_slowly(database, tenant.name, number) for number in range(4)))
    open_end = await until(lambda: _settled(client), 60)
    for number in range(4):
        own = [event["payload"]["n"] for event in open_end if event["agent_name"] == f"writer-{number}"]
        assert own == sorted(own)


async def _settled(client: Client) -> list[dict[str, Any]]:
    before = await page_through(client, ALL)
    await asyncio.sleep(0.6)
    after = await page_through(client, ALL)
    assert before == after
    return after


async def test_numbering_twice_at_once_numbers_once(fresh_database: Database) -> None:
    connections = [
        await asyncpg.connect(fresh_database.services["context"], server_settings=EVERY) for _ in range(4)
    ]
    writer = await asyncpg.connect(fresh_database.services["cache"], server_settings=EVERY)
    try:
        for n in range(300):
            await writer.execute(INSERT, "t", "m", "a", n)
        assert await queries.unnumbered(connections[0]) == 300
        counts = []
        while any(batch := await asyncio.gather(*(_number(connection) for connection in connections))):
            counts += batch
        assert sum(counts) == 300
        assert await queries.unnumbered(connections[0]) == 0
        rows = await connections[0].fetch("select seq from timeline.events order by id")
        assert [row["seq"] for row in rows] == list(range(1, 301))
    finally:
        for connection in (*connections, writer):
            await connection.close()


async def _number(connection: Any) -> int:
    return int(await connection.fetchval("select numbered from timeline.number_tenant('t', 7)"))


async def test_a_late_commit_comes_after_what_was_read(
    database: Database, tenant: Tenant, client: Client
) -> None:
    slow = await asyncpg.connect(database.services["cache"], server_settings=EVERY)
    try:
        async with slow.transaction():
            await slow.execute(INSERT, tenant.name, "m", "slow", 1)
            quick = await asyncpg.connect(database.services["cache"], server_settings=EVERY)
            await quick.execute(INSERT, tenant.name, "m", "quick", 2)
            await quick.close()
            first = await until(lambda: _pages(client, 1))
            assert [event["agent_name"] for event in first] == ["quick"]
    finally:
        await slow.close()
    both = await until(lambda: _pages(client, 2))
    assert [event["agent_name"] for event in both] == ["quick", "slow"]


async def _pages(client: Client, count: int, path: str = ALL) -> list[dict[str, Any]]:
    events = await page_through(client, path)
    assert len(events) == count, events
    return events


async def write(client: Client, mission: str = "m", **more: Any) -> int:
    answer = await client.post(WRITE, note(mission, "a note", **more))
    assert answer.status == 201, answer
    return int(answer.body["data"]["id"])


async def test_a_stream_is_resumed_where_it_broke_off(client: Client) -> None:
    ids = [await write(client) for _ in range(6)]
    heard: list[dict[str, Any]] = []
    last = 0
    for _ in range(3):
        async with Stream(client, "/api/timeline", after=last) as stream:
            await until(lambda stream=stream: _has(stream, 2))  # type: ignore[misc]
        taken = stream.events[:2]
        heard += taken
        last = taken[-1]["seq"]
    assert [event["payload"]["id"] for event in heard] == ids


async def test_a_stream_without_a_cursor_begins_now(client: Client) -> None:
    await write(client)
    await until(lambda: _pages(client, 1))
    async with Stream(client, "/api/timeline") as stream:
        fresh = await write(client)
        await until(lambda: _has(stream, 1))
        assert stream.events[0]["payload"]["id"] == fresh


async def test_pages_follow_each_other(client: Client) -> None:
    ids = [await write(client) for _ in range(7)]
    await until(lambda: _pages(client, 7))
    walked = await pages(client, "/api/timeline", limit=3)
    assert [[event["payload"]["id"] for event in page] for page in walked] == [ids[:3], ids[3:6], ids[6:]]
    last = walked[-1][-1]["seq"]
    assert (await client.get(f"/api/timeline?after={last}")).body == {"data": [], "next": None}


async def test_events_hold_ids_and_counts_only(client: Client) -> None:
    body = note("m", "the launch code", tags=["codes"], session_id="s", agent_name="ana")
    answer = await client.post(WRITE, body)
    (event,) = await until(lambda: _pages(client, 1))
    assert event["kind"] == "cache_write"
    assert (event["mission_id"], event["agent_name"], event["session_id"]) == ("m", "ana", "s")
    assert event["payload"] == {
        "id": answer.body["data"]["id"],
        "context_type": "intel",
        "token_count": tokens_of(body),
        "evicted_count": 0,
    }


async def test_filters_narrow_pages_and_streams(client: Client) -> None:
    for mission, dispatch in (("one", 7), ("two", 7), ("one", 8)):
        await write(client, mission, dispatch_id=dispatch)
    await client.delete("/api/psychic-cache/one?reason=operator")
    everything = await until(lambda: _pages(client, 5))
    for query, count in (
        ("kind=audit", 1),
        ("mission=one", 3),
        ("mission=two", 1),
        ("mission=none", 0),
        ("kind=cache_write", 3),
        ("kind=cache_clear", 1),
        ("dispatch_id=7", 2),
        ("mission=one&dispatch_id=7&kind=cache_write", 1),
    ):
        events = await _pages(client, count, f"{ALL}&{query}")
        assert [event["seq"] for event in events] == sorted(
            event["seq"] for event in everything if event in events
        )
        if count:
            async with Stream(client, f"/api/timeline?{query}", after=0) as stream:
                await until(lambda stream=stream, count=count: _has(stream, count))  # type: ignore[misc]
                assert stream.events == events


async def test_two_streams_hear_the_same(client: Client) -> None:
    async with (
        Stream(client, "/api/timeline", after=0) as one,
        Stream(client, "/api/timeline", after=0) as two,
    ):
        for _ in range(5):
            await write(client)
        for stream in (one, two):
            await until(lambda stream=stream: _has(stream, 5))  # type: ignore[misc]
    assert one.events == two.events


async def test_a_ring_is_heard(tenant: Tenant, client: Client, redis_url: str) -> None:
    """The doorbell names the tenant and nothing else."""
    redis = Redis.from_url(redis_url)
    async with redis.pubsub() as pubsub:
        await pubsub.psubscribe("timeline:*")
        await write(client)

        async def rung() -> None:
            message = await pubsub.get_message(ignore_subscribe_messages=True, timeout=0.1)
            assert message is not None
            assert message["channel"] == f"timeline:{tenant.name}".encode()
            assert message["data"] == b""

        await until(rung)
    await redis.aclose()


async def test_without_redis_nothing_is_lost(servers: Servers, client: Client) -> None:
    async with Stream(client, "/api/timeline", after=0) as stream:
        before = await write(client)
        await until(lambda: _has(stream, 1))
        servers.redis.stop()
        try:
            during = [await write(client) for _ in range(3)]
            await until(lambda: _has(stream, 4))
            async with Stream(client, "/api/timeline", after=stream.ids[0]) as late:
                await until(lambda: _has(late, 3))
            assert late.events == stream.events[1:]
        finally:
            servers.redis.start()
        after = await write(client)
        await until(lambda: _has(stream, 5))
    assert [event["payload"]["id"] for event in stream.events] == [before, *during, after]


async def _open_streams(client: Client, count: int, opened: AsyncExitStack) -> None:
    for _ in range(count):
        await opened.enter_async_context(Stream(client, "/api/timeline"))


async def test_a_key_and_a_tenant_have_a_limited_number_of_streams(
    tenants: tuple[Tenant, Tenant],
) -> None:
    first, other = tenants
    keys = [await first.client("read") for _ in range(5)]
    neighbour = await other.client("read")
    stream = {"headers": {"accept": "text/event-stream"}}
    async with AsyncExitStack() as opened:
        await _open_streams(keys[0], 32, opened)
        refused = await keys[0].get("/api/timeline", **stream)
        assert (refused.status, refused.body["limit"]) == (429, "streams_per_key")
        assert int(refused.headers["retry-after"]) > 0
        assert (await keys[0].get("/api/timeline")).status == 200
        for key in keys[1:4]:
            await _open_streams(key, 32, opened)
        refused = await keys[4].get("/api/timeline", **stream)
        assert (refused.status, refused.body["limit"]) == (429, "streams_per_tenant")
        await _open_streams(neighbour, 1, opened)
    await until(lambda: _open_one(keys[0]))


async def _open_one(client: Client) -> None:
    async with client.session.get("/api/timeline", headers={"accept": "text/event-stream"}) as response:
        assert response.status == 200


async def test_idle_streams_of_one_tenant_stop_nobody_elses_mcp(tenants: tuple[Tenant, Tenant]) -> None:
    """A call over MCP accepts an event stream, and is none."""
    noisy = [await tenants[0].client("read") for _ in range(8)]
    neighbour = await tenants[1].client("read")
    call = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    headers = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
    async with AsyncExitStack() as opened:
        for client in noisy:
            with suppress(AssertionError, TimeoutError):
                await _open_streams(client, 32, opened)
        for _ in range(5):
            assert (await neighbour.post("/mcp", call, headers=headers)).status == 200
        await _open_streams(neighbour, 1, opened)
