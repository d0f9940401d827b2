"""Budgets per mission hold exactly, whoever writes at once; what expired is gone, swept or not."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import asyncpg
import pytest

from local.database import Database
from shared.database.postgres import Connection
from tests.integration.conftest import Tenant
from tests.support.calls import characters_of, note, until
from tests.support.cluster import Answer, Client, Cluster
from tests.support.clusters import spare

TOKENS, ENTRIES = 10_000, 200
WRITERS = 32
SECONDS = 10
SEED = 20260704
WRITE = "/api/psychic-cache/write"
# A second and a bit: gone before a test is, and there long enough to be seen.
SHORT_TTL = 1.1 / 3600


def filled(body: dict[str, Any], tokens: int) -> dict[str, Any]:
    """The body with a content that makes it take so many tokens."""
    size = tokens * 4 - characters_of({**body, "content": ""})
    assert size > 0, "its other fields take more"
    return {**body, "content": ("word " * tokens)[:size]}


def sized(mission: str, tokens: int, **more: Any) -> dict[str, Any]:
    return filled(note(mission, "", **more), tokens)


def checkpoint(mission: str, session: str, tokens: int = 40, **more: Any) -> dict[str, Any]:
    body = {
        "context_type": "thread_checkpoint",
        "mission_id": mission,
        "session_id": session,
        "turn_count": 3,
        "active_dispatches": [],
        "open_decisions": [],
        "pending_directives": [],
        "current_mission_namespaces": [mission],
        "working_state_prose": "half way",
        **more,
    }
    return filled(body, tokens)


async def write(client: Client, body: dict[str, Any]) -> dict[str, Any]:
    answer = await client.post(WRITE, body)
    assert answer.status == 201, answer
    data: dict[str, Any] = answer.body["data"]
    return data


async def stats(client: Client, mission: str) -> dict[str, Any]:
    answer = await client.get(f"/api/psychic-cache/{mission}/stats")
    assert answer.status == 200, answer
    data: dict[str, Any] = answer.body["data"]
    return data


async def entries(client: Client, mission: str) -> list[dict[str, Any]]:
    answer = await client.get(f"/api/psychic-cache/{mission}/entries?limit=1000")
    assert answer.status == 200, answer
    data: list[dict[str, Any]] = answer.body["data"]
    return data


async def rows(sql: Connection, tenant: str, mission: str) -> asyncpg.Record:
    """What the tables hold, expired or not, and what the counters say."""
    row = await sql.fetchrow(
        """select count(e.id) as entries, coalesce(sum(e.token_count), 0) as tokens, m.entries as counted_entries,
                  m.tokens as counted_tokens
           from cache.missions m left join cache.psychic_cache e using (tenant, mission_id)
           where m.tenant = $1 and m.mission_id = $2 group by m.tenant, m.mission_id""",
        tenant,
        mission,
    )
    assert row is not None
    return row


class Sampler:
    """Looks at the live rows of a mission all the time, with a connection of its own."""

    def __init__(self, connection: Connection, tenant: str, mission: str) -> None:
        self._connection, self._of = connection, (tenant, mission)
        self.samples = self.most_tokens = self.most_entries = 0

    async def look(self) -> None:
        row = await self._connection.fetchrow(
            """select count(*) as entries, coalesce(sum(token_count), 0) as tokens from cache.psychic_cache
               where tenant = $1 and mission_id = $2 and expires_at > clock_timestamp()""",
            *self._of,
        )
        assert row is not None
        self.samples += 1
        self.most_tokens = max(self.most_tokens, row["tokens"])
        self.most_entries = max(self.most_entries, row["entries"])

    def has_seen(self, entries: int) -> Callable[[], Awaitable[None]]:
        async def check() -> None:
            assert self.most_entries >= entries

        return check

    async def look_forever(self) -> None:
        while True:
            await self.look()
            await asyncio.sleep(0.002)


@asynccontextmanager
async def sampling(database: Database, tenant: Tenant, mission: str) -> AsyncIterator[Sampler]:
    connection = await asyncpg.connect(database.admin)
    sampler = Sampler(connection, tenant.name, mission)
    looking = asyncio.create_task(sampler.look_forever())
    try:
        yield sampler
    finally:
        looking.cancel()
        await asyncio.gather(looking, return_exceptions=True)
        await connection.close()


async def _raise_limits(tenant: Tenant, mission: str, **limits: Any) -> Answer:
    admin = await tenant.client("admin")
    return await admin.call("PUT", f"/api/psychic-cache/{mission}/limits", limits)


async def test_the_sampler_sees_a_budget_that_is_exceeded(
    database: Database, tenant: Tenant, client: Client
) -> None:
    assert (await _raise_limits(tenant, "wide", token_budget=50_000, entry_budget=500)).status == 200
    async with sampling(database, tenant, "wide") as sampler:
        await asyncio.gather(*(write(client, sized("wide", 60)) for _ in range(ENTRIES + 1)))
        await until(sampler.has_seen(ENTRIES + 1))
    assert sampler.most_entries > ENTRIES
    assert sampler.most_tokens > TOKENS


async def test_budgets_hold_while_32_write(
    database: Database, tenant: Tenant, client: Client, sql: Connection
) -> None:
    mission = "busy"
    evicted = written = cleared = 0
    end = time.monotonic() + SECONDS

    async def writer(number: int) -> None:
        nonlocal evicted, written
        chance = random.Random(SEED + number)
        mine = await tenant.client("write")
        while time.monotonic() < end:
            tokens = chance.choice([1, 5, 20, 60, 150, 400, 3_000])
            body = sized(mission, tokens)
            if chance.random() < 0.1:
                body = checkpoint(mission, f"session-{chance.randrange(20)}", chance.randint(10, 60))
            if chance.random() < 0.2:
                body["ttl_hours"] = SHORT_TTL
            answer = await write(mine, body)
            written += 1
            evicted += answer["evicted_count"]
            assert 0 < answer["cache_total_tokens"] <= TOKENS

    async def clearer() -> None:
        nonlocal cleared
        for _ in range(3):
            await asyncio.sleep(SECONDS / 4)
            answer = await client.delete(f"/api/psychic-cache/{mission}?reason=superseded")
            assert answer.status == 200, answer
            cleared += answer.body["data"]["deleted_count"]

    async with sampling(database, tenant, mission) as sampler:
        await asyncio.gather(clearer(), *(writer(number) for number in range(WRITERS)))
    assert written > 100, SEED
    assert sampler.samples > 50
    assert sampler.most_tokens <= TOKENS
    assert sampler.most_entries <= ENTRIES
    assert max(sampler.most_tokens / TOKENS, sampler.most_entries / ENTRIES) > 0.8

    told = await stats(client, mission)
    assert told["written_count"] == written
    assert told["evicted_count"] == evicted > 0
    assert told["cleared_count"] == cleared > 0
    assert told["expired_count"] > 0
    assert written == told["entry_count"] + evicted + told["expired_count"] + cleared
    assert told["total_tokens"] <= TOKENS
    held = await rows(sql, tenant.name, mission)
    assert held["entries"] == held["counted_entries"]
    assert held["tokens"] == held["counted_tokens"]


async def test_nothing_of_an_evicted_entry_is_left(tenant: Tenant, client: Client, sql: Connection) -> None:
    await asyncio.gather(*(write(client, sized("left", 2)) for _ in range(ENTRIES + 5)))
    for table in ("psychic_chunks", "psychic_vec", "index_queue"):
        orphans = await sql.fetchval(
            f"""select count(*) from cache.{table} t where t.tenant = $1 and not exists (
                select 1 from cache.psychic_cache e where e.tenant = t.tenant and e.id = t.item_id)""",
            tenant.name,
        )
        assert orphans == 0, table


async def test_the_oldest_go_first(client: Client) -> None:
    written = [await write(client, sized("old", 1)) for _ in range(ENTRIES + 5)]
    assert [one["evicted_count"] for one in written] == [0] * ENTRIES + [1] * 5
    kept = [entry["id"] for entry in await entries(client, "old")]
    assert kept == [one["id"] for one in written[:4:-1]]


async def test_as_many_go_as_are_needed_and_no_more(client: Client) -> None:
    ids = [(await write(client, sized("room", 1_000)))["id"] for _ in range(10)]
    last = await write(client, sized("room", 2_500))
    assert last["evicted_count"] == 3
    assert last["cache_total_tokens"] == 9_500
    assert [entry["id"] for entry in await entries(client, "room")] == [last["id"], *ids[:2:-1]]


@pytest.mark.parametrize("key", [{}, {"idempotency-key": "full"}], ids=["alone", "keyed"])
async def test_an_entry_may_take_the_room_of_the_one_that_it_supersedes(
    client: Client, key: dict[str, str]
) -> None:
    older = (await write(client, sized("full", TOKENS)))["id"]
    body = sized("full", TOKENS) | {"supersedes": older}
    answer = await client.post(WRITE, body, headers=key)
    assert answer.status == 201, answer
    assert [entry["id"] for entry in await entries(client, "full")] == [answer.body["data"]["id"]]


async def test_an_entry_may_take_the_whole_budget_but_no_more(client: Client) -> None:
    assert (await write(client, sized("whole", TOKENS)))["cache_total_tokens"] == TOKENS
    answer = await client.post(WRITE, sized("whole", TOKENS + 1))
    assert answer.status == 422
    assert answer.body["errors"][0]["field"] == "content"
    told = await stats(client, "whole")
    assert (told["entry_count"], told["written_count"], told["evicted_count"]) == (1, 1, 0)


async def test_a_refused_first_entry_makes_no_mission(client: Client) -> None:
    assert (await client.post(WRITE, sized("unborn", TOKENS + 1))).status == 422
    assert (await client.get("/api/psychic-cache/unborn/stats")).status == 404


async def test_only_newest_checkpoints_left_is_a_conflict(client: Client) -> None:
    for number in range(10):
        await write(client, checkpoint("full", f"session-{number}", 1_000))
    answer = await client.post(WRITE, sized("full", 1))
    assert answer.status == 409, answer
    assert len(await entries(client, "full")) == 10
    assert (await stats(client, "full"))["written_count"] == 10
    newer = await write(client, checkpoint("full", "session-3", 1_000))
    assert newer["evicted_count"] == 1
    sessions = sorted(entry["session_id"] for entry in await entries(client, "full"))
    assert sessions == [f"session-{number}" for number in range(10)]


async def test_the_newest_checkpoint_of_a_session_goes_last(client: Client) -> None:
    for name in ("a", "b"):
        for _ in range(3):
            await write(client, checkpoint("deep", name, 100))
    for _ in range(12):
        await write(client, sized("deep", 1_500))
    left = [entry for entry in await entries(client, "deep") if entry["context_type"] == "thread_checkpoint"]
    assert sorted(entry["session_id"] for entry in left) == ["a", "b"]
    for name in ("a", "b"):
        answer = await client.get(f"/api/psychic-cache/checkpoint/{name}")
        assert answer.status == 200
        assert answer.body["data"]["id"] in {entry["id"] for entry in left}


async def test_a_replaced_checkpoint_goes_like_any_entry(client: Client) -> None:
    first = await write(client, checkpoint("turn", "s", 1_000))
    second = await write(client, sized("turn", 8_500))
    third = await write(client, checkpoint("turn", "s", 1_000))
    assert third["evicted_count"] == 1
    assert [e["id"] for e in await entries(client, "turn")] == [third["id"], second["id"]]
    assert first["id"] < second["id"]


async def _seen(client: Client, admin: Client, mission: str, session: str) -> dict[str, Any]:
    """Where entries of the mission show up, by every way to look."""
    question = {"mission_id": mission, "query": "the lighthouse keeper"}
    found = (await client.post("/api/psychic-cache/query", question)).body["data"]
    everywhere = (await client.post("/api/psychic-cache/query", question | {"mission_id": "*"})).body["data"]
    assembled = await admin.post(
        "/api/context/assemble",
        {"query": question["query"], "caller": "ana", "mission_namespace": mission, "debug": True},
    )
    told = await stats(client, mission)
    return {
        "query": len(found["entries"]),
        "size": found["cache_size"],
        "every mission": len(everywhere["entries"]),
        "list": len(await entries(client, mission)),
        "all": len((await client.get("/api/psychic-cache/all/entries")).body["data"]),
        "stats": told["entry_count"],
        "tokens": told["total_tokens"] > 0,
        "by type": sum(told["by_type"].values()),
        "checkpoint": (await client.get(f"/api/psychic-cache/checkpoint/{session}")).status,
        "assemble": len(assembled.body["sources"]),
        "candidates": len(assembled.body["candidates"]),
    }


async def test_what_expired_is_nowhere_swept_or_not(
    tenant: Tenant, client: Client, admin_client: Client, sql: Connection
) -> None:
    mission = "short"
    body = checkpoint(mission, "ends", ttl_hours=SHORT_TTL)
    body["content"] = "The lighthouse keeper knows the way."
    written = await client.post(f"{WRITE}?wait=indexed", body)
    assert written.status == 201
    before = await _seen(client, admin_client, mission, "ends")
    assert before == {name: 200 if name == "checkpoint" else 1 for name in before}
    await _until_expired(sql, tenant.name, mission)
    assert (await rows(sql, tenant.name, mission))["entries"] == 1
    after = await _seen(client, admin_client, mission, "ends")
    assert after == {name: 404 if name == "checkpoint" else 0 for name in after}
    told = await stats(client, mission)
    assert (told["written_count"], told["expired_count"], told["evicted_count"]) == (1, 1, 0)


async def _until_expired(sql: Connection, tenant: str, mission: str) -> None:
    async def check() -> None:
        assert not await sql.fetchval(
            """select count(*) from cache.psychic_cache
               where tenant = $1 and mission_id = $2 and expires_at > clock_timestamp()""",
            tenant,
            mission,
        )

    await until(check)


async def test_what_expired_takes_no_room(tenant: Tenant, client: Client, sql: Connection) -> None:
    mission = "room-again"
    await write(client, sized(mission, 9_000, ttl_hours=SHORT_TTL))
    kept = await write(client, sized(mission, 500))
    await _until_gone(sql, tenant.name, mission, 1)
    fresh = await write(client, sized(mission, 9_000))
    assert fresh["evicted_count"] == 0
    assert fresh["cache_total_tokens"] == 9_500
    assert [entry["id"] for entry in await entries(client, mission)] == [fresh["id"], kept["id"]]
    told = await stats(client, mission)
    assert (told["expired_count"], told["evicted_count"], told["written_count"]) == (1, 0, 3)


async def _until_gone(sql: Connection, tenant: str, mission: str, expired: int) -> None:
    async def check() -> None:
        count = await sql.fetchval(
            """select count(*) from cache.psychic_cache
               where tenant = $1 and mission_id = $2 and expires_at <= clock_timestamp()""",
            tenant,
            mission,
        )
        assert count == expired

    await until(check)


async def test_two_replicas_that_sweep_at_once_count_once(
    cluster: Cluster, tenant: Tenant, client: Client, sql: Connection
) -> None:
    """Both sweep every few milliseconds while entries come in and expire."""
    missions = [f"swept-{number}" for number in range(4)]
    often = {"SCRUBJAY_CACHE_SWEEP_MINUTES": "0.001"}
    written = evicted = 0
    async with AsyncExitStack() as stack:
        await asyncio.gather(*(stack.enter_async_context(spare(cluster, "cache", **often)) for _ in range(2)))
        for _ in range(25):
            answers = await asyncio.gather(
                *(write(client, sized(mission, 90, ttl_hours=SHORT_TTL)) for mission in missions * 2)
            )
            written += len(answers)
            evicted += sum(answer["evicted_count"] for answer in answers)

        async def swept() -> None:
            held = [await rows(sql, tenant.name, mission) for mission in missions]
            assert [tuple(row) for row in held] == [(0, 0, 0, 0)] * len(missions)

        await until(swept)
    told = [await stats(client, mission) for mission in missions]
    assert sum(one["written_count"] for one in told) == written
    assert sum(one["expired_count"] for one in told) == written - evicted
    assert sum(one["evicted_count"] for one in told) == evicted


@pytest.mark.parametrize("query", ["", "?reason=", "?reason=because", "?reason=OPERATOR"])
async def test_a_mission_is_not_cleared_without_a_reason(client: Client, query: str) -> None:
    await write(client, sized("kept", 3))
    answer = await client.delete(f"/api/psychic-cache/kept{query}")
    assert answer.status == 400
    assert answer.body["errors"][0]["field"] == "reason"
    assert len(await entries(client, "kept")) == 1


@pytest.mark.parametrize("reason", ["mission_complete", "superseded", "contaminated", "operator"])
@pytest.mark.parametrize("place", ["query", "body"])
async def test_clearing_counts_and_keeps_its_reason(client: Client, reason: str, place: str) -> None:
    mission = f"{reason}-{place}"
    for tokens in (3, 7):
        await write(client, sized(mission, tokens))
    path = f"/api/psychic-cache/{mission}"
    answer = await (
        client.delete(f"{path}?reason={reason}")
        if place == "query"
        else client.call("DELETE", path, {"reason": reason})
    )
    assert answer.status == 200, answer
    assert answer.body["data"] == {"deleted_count": 2, "freed_tokens": 10}
    assert await entries(client, mission) == []
    told = await stats(client, mission)
    assert (told["cleared_count"], told["entry_count"], told["total_tokens"]) == (2, 0, 0)

    async def noted() -> dict[str, Any]:
        page = await client.get(f"/api/timeline?mission={mission}&kind=cache_clear")
        (event,) = page.body["data"]
        found: dict[str, Any] = event["payload"]
        return found

    assert (await until_found(noted))["reason"] == reason


async def until_found(look: Any) -> Any:
    async def check() -> Any:
        try:
            return await look()
        except ValueError as error:
            raise AssertionError(error) from error

    return await until(check)


async def test_clearing_counts_what_had_expired_as_expired(
    tenant: Tenant, client: Client, sql: Connection
) -> None:
    await write(client, sized("mixed", 5, ttl_hours=SHORT_TTL))
    await write(client, sized("mixed", 7))
    await _until_gone(sql, tenant.name, "mixed", 1)
    answer = await client.delete("/api/psychic-cache/mixed?reason=operator")
    assert answer.body["data"] == {"deleted_count": 1, "freed_tokens": 7}
    told = await stats(client, "mixed")
    assert (told["written_count"], told["cleared_count"], told["expired_count"]) == (2, 1, 1)


async def test_clearing_what_is_not_there_is_nothing(client: Client) -> None:
    answer = await client.delete("/api/psychic-cache/never-was?reason=operator")
    assert answer.body["data"] == {"deleted_count": 0, "freed_tokens": 0}


@pytest.mark.parametrize("name", ["*", "all", "checkpoint", "a/b", "..", " x", "a\nb"])
async def test_reserved_names_are_no_missions(client: Client, name: str) -> None:
    answer = await client.post(WRITE, sized(name, 1))
    assert answer.status == 400
    assert answer.body["errors"][0]["field"] == "mission_id"


@pytest.mark.parametrize("name", ["*", "all", "checkpoint"])
async def test_reserved_names_have_no_limits(admin_client: Client, name: str) -> None:
    answer = await admin_client.call("PUT", f"/api/psychic-cache/{name}/limits", {"token_budget": 5})
    assert answer.status in (400, 404, 405)


async def test_limits_of_a_mission(tenant: Tenant, client: Client, admin_client: Client) -> None:
    path = "/api/psychic-cache/own/limits"
    assert (await client.call("PUT", path, {"token_budget": 20})).status == 403
    assert (
        await admin_client.call("PUT", path, {"token_budget": 20, "entry_budget": 3, "ttl_hours": 1})
    ).status == 200
    assert (await client.post(WRITE, sized("own", 21))).status == 422
    for _ in range(4):
        last = await write(client, sized("own", 5))
    assert last["evicted_count"] == 1
    told = await stats(client, "own")
    assert (told["token_budget"], told["entry_budget"], told["entry_count"]) == (20, 3, 3)
    assert (await admin_client.call("PUT", path, {})).status == 200
    told = await stats(client, "own")
    assert (told["token_budget"], told["entry_budget"]) == (TOKENS, ENTRIES)


async def test_a_lowered_budget_holds_at_once(client: Client, admin_client: Client) -> None:
    for _ in range(6):
        await write(client, sized("lower", 10))
    await admin_client.call("PUT", "/api/psychic-cache/lower/limits", {"token_budget": 25})
    told = await stats(client, "lower")
    assert (told["total_tokens"], told["evicted_count"]) == (20, 4)
    last = await write(client, sized("lower", 10))
    assert last["evicted_count"] == 1
    assert last["cache_total_tokens"] == 20
