"""Summaries follow admission: each once, through killed workers, in the order of admission, tenant by tenant."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from itertools import count
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from local.database import Database
from services.cache.service import CacheService
from services.cache.sessions.objects.schemas import AdmitInput, ReleaseInput
from services.cache.sessions.schemas import CreateSessionInput
from services.cache.sessions.summarizing import worker
from services.cache.sessions.summarizing.queries import Made
from services.cache.sessions.summarizing.worker import BATCH, MOST_ATTEMPTS, OF_A_TENANT
from shared.database.postgres import Connection
from shared.deadline import Deadline
from tests.integration.sessions.calls import began, ok, summarized
from tests.support.cache_services import cache_service, principal
from tests.support.cluster import Client


def log(run: int) -> str:
    """No run's words are those of another."""
    return "".join(f"{line:03} c{run}x{line} was refused by r{run}y{line * 7}\n" for line in range(60))


LOG = log(0)
SUMMARIZED = "select id from sessions.semantic_objects where tokens_l1 is not null"
WAITING = "select count(*) from cache.index_queue where store = 'object_summaries'"
LEASES_END = "update cache.index_queue set due_at = clock_timestamp() where store = 'object_summaries'"
_numbers = count(1)


@pytest.fixture
async def service(fresh_database: Database, redis_url: str) -> AsyncIterator[CacheService]:
    async with cache_service(fresh_database, redis_url) as service:
        yield service


@pytest.fixture
async def rows(fresh_database: Database) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(fresh_database.admin)
    yield connection
    await connection.close()


async def admitted(service: CacheService, tenant: str, texts: int = 1) -> list[UUID]:
    """New objects of a new session, in their order."""
    wanted = CreateSessionInput(agent_name="scout", external_id=f"s{next(_numbers)}")
    made = await service.sessions.create(principal(tenant), wanted, None, Deadline(20))
    found: list[UUID] = []
    for number in range(texts):
        given = AdmitInput(content=log(number), object_type="tool_result")
        answer = await service.admission.admit(
            principal(tenant), str(made.data.id), given, None, Deadline(20)
        )
        found += [each.id for each in answer.objects if each.id is not None]
    return found


async def done(rows: Connection) -> set[UUID]:
    return {row["id"] for row in await rows.fetch(SUMMARIZED)}


async def test_admission_leaves_summaries_to_the_background(client: Client, sql: Connection) -> None:
    session = await began(client)
    body = {"content": LOG, "object_type": "tool_result"}
    made = (await ok(client, "POST", f"{session}/objects", body))["objects"][0]
    await summarized(sql, session)
    found = (await ok(client, "GET", f"{session}/objects/{made['id']}"))["data"]
    assert found["tokens_l2"] < found["tokens_l1"] < found["tokens_l0"]
    released = await ok(client, "POST", f"{session}/objects/{made['id']}/release", {"fidelity": 1})
    assert released["data"]["current_fidelity"] == 1
    assert released["data"]["content"] != LOG


async def test_an_object_without_a_summary_goes_straight_to_its_line(
    service: CacheService, rows: Connection
) -> None:
    (made,) = await admitted(service, "t")
    assert await rows.fetchval(WAITING) == 1
    assert not await done(rows)
    session = str(await rows.fetchval("select session_id from sessions.semantic_objects where id = $1", made))
    released = await service.paging.release(
        principal("t"), session, made, ReleaseInput(fidelity=1), None, Deadline(20)
    )
    assert (released.current_fidelity, released.content) == (3, released.stub)


async def test_short_texts_are_not_queued(service: CacheService, rows: Connection) -> None:
    wanted = CreateSessionInput(agent_name="scout")
    made = await service.sessions.create(principal("t"), wanted, None, Deadline(20))
    given = AdmitInput(content="two words", object_type="plan")
    await service.admission.admit(principal("t"), str(made.data.id), given, None, Deadline(20))
    assert await rows.fetchval(WAITING) == 0


async def test_two_workers_make_each_summary_once(
    service: CacheService, fresh_database: Database, redis_url: str, rows: Connection
) -> None:
    ids = [*await admitted(service, "a", 12), *await admitted(service, "b", 12)]
    async with cache_service(fresh_database, redis_url) as other:
        claimed = await asyncio.gather(*(_all(one) for one in (service, other)))
    assert sum(claimed) == len(ids)
    assert await done(rows) == set(ids)
    assert await rows.fetchval(WAITING) == 0


async def test_tenants_take_turns_and_objects_their_order(service: CacheService, rows: Connection) -> None:
    first = await admitted(service, "busy", 9)
    other = await admitted(service, "calm", 1)
    assert await service.summaries.round() == OF_A_TENANT + 1
    assert await done(rows) == {*first[:OF_A_TENANT], *other}
    assert OF_A_TENANT < BATCH
    await _all(service)
    assert await done(rows) == {*first, *other}


async def test_what_a_killed_worker_held_comes_back(
    service: CacheService,
    fresh_database: Database,
    redis_url: str,
    rows: Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ids = await admitted(service, "t", 2)
    begun, never = asyncio.Event(), asyncio.Event()

    async def stuck(*_: Any) -> Any:
        begun.set()
        await never.wait()

    with monkeypatch.context() as patch:
        patch.setattr(worker, "parsing", stuck)
        killed = asyncio.create_task(service.summaries.round())
        await begun.wait()
        killed.cancel()
        await asyncio.wait([killed])
    async with cache_service(fresh_database, redis_url) as other:
        assert await other.summaries.round() == 0
        assert not await done(rows)
        await rows.execute(LEASES_END)
        assert await _all(other) == len(ids)
    assert await done(rows) == set(ids)


async def test_only_the_last_claim_is_kept(
    service: CacheService,
    fresh_database: Database,
    redis_url: str,
    rows: Connection,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A worker that slept through its lease must not change what another has made: a host may have been sent it."""
    await admitted(service, "t")
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def slow(*_: Any) -> Any:
        begun.set()
        await go_on.wait()
        return Made(summary_detailed="late", key_entities=[], tokens_l1=1)

    with monkeypatch.context() as patch:
        patch.setattr(worker, "parsing", slow)
        late = asyncio.create_task(service.summaries.round())
        await begun.wait()
    await rows.execute(LEASES_END)
    async with cache_service(fresh_database, redis_url) as other:
        assert await _all(other) == 1
    before = await rows.fetchval("select summary_detailed from sessions.semantic_objects")
    go_on.set()
    await late
    assert before != "late"
    assert await rows.fetchval("select summary_detailed from sessions.semantic_objects") == before


@pytest.mark.parametrize("trouble", ["error", "attempts", "superseded"])
async def test_what_cannot_be_summarized_is_not_tried_for_ever(
    service: CacheService, rows: Connection, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    await admitted(service, "t", 2)
    if trouble == "error":

        async def failing(*_: Any) -> Any:
            return None

        monkeypatch.setattr(worker, "parsing", failing)
    elif trouble == "attempts":
        await rows.execute("update cache.index_queue set attempts = $1", MOST_ATTEMPTS)
    else:
        await rows.execute("update sessions.semantic_objects set superseded_by = gen_random_uuid()")
    assert await service.summaries.round() == 2
    assert await rows.fetchval(WAITING) == 0
    assert not await done(rows)


async def test_deleted_objects_leave_the_queue(service: CacheService, rows: Connection) -> None:
    await admitted(service, "t", 2)
    await rows.execute("delete from sessions.sessions")
    assert await service.summaries.round() == 2
    assert await rows.fetchval(WAITING) == 0


async def test_a_writer_of_the_session_is_waited_for(
    service: CacheService, fresh_database: Database, rows: Connection
) -> None:
    ids = await admitted(service, "t")
    async with rows.transaction():
        await rows.execute("select from sessions.semantic_objects for update")
        making_it = asyncio.create_task(service.summaries.round())
        await asyncio.sleep(0.1)
    await making_it
    assert await done(rows) == set(ids)


async def _all(service: CacheService) -> int:
    """How many this worker claimed until nothing was left."""
    claimed = 0
    while found := await service.summaries.round():
        claimed += found
    return claimed
