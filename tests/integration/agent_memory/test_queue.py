"""Whatever deletes a memory deletes what waits for its vector, and leaves the queue of other stores alone."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import asyncpg
import pytest
from pgvector import HalfVector

from local.database import Database
from services.agent_memory.app import Services
from services.agent_memory.long_term import indexing as long_term
from services.agent_memory.long_term.schemas import EditMemoryInput, WriteMemoryInput
from services.agent_memory.memories.commits import queries
from shared.database.index_queue import Embedded
from shared.database.postgres import Connection
from shared.deadline import Deadline
from tests.support.agent_memory import MANY_SECONDS, commit, fake_embedding, replica, who
from tests.support.calls import until
from tests.support.fakes.fake_openai import FakeOpenAI

TENANT = "queue"
QUEUED = "select store, item_id from memory.index_queue where tenant = $1 order by item_id, store"
SAME_ID = """
insert into memory.index_queue (tenant, store, item_id, scope, model)
select tenant, 'facts', item_id, scope, model from memory.index_queue where tenant = $1
"""
WAITS = "select exists (select from pg_locks where pg_backend_pid() = any(pg_blocking_pids(pid)))"
Deletion = Callable[[Services, list[int]], Awaitable[Any]]


@pytest.fixture
async def services(fresh_database: Database, redis_url: str) -> AsyncIterator[Services]:
    """The embedder is away, so what is committed waits for its vector. No other service empties the queue."""
    with FakeOpenAI() as api:
        async with replica(fresh_database, redis_url, fake_embedding(api)) as services:
            api.mode = "reset"
            yield services


@pytest.fixture
async def sql(fresh_database: Database) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(fresh_database.admin)
    yield connection
    await connection.close()


async def _delete(services: Services, ids: list[int]) -> None:
    for id_ in ids:
        await services.commits.delete(who(TENANT), id_, Deadline(10))


async def _forget(services: Services, ids: list[int]) -> None:
    receipt = await services.purge.forget(who(TENANT), "scout", None, Deadline(10))
    assert receipt.erased["index_queue"] == len(ids)


async def _erase_scope(services: Services, ids: list[int]) -> None:
    erased = await services.purge.erase(who(TENANT), "agent:scout", None, Deadline(10))
    assert erased["agent_memory"] == len(ids)


async def _erase_user(services: Services, ids: list[int]) -> None:
    erased = await services.purge.erase(who(TENANT), "user:alice", "alice", Deadline(10))
    assert erased["agent_memory"] == len(ids)


DELETIONS = [_delete, _forget, _erase_scope, _erase_user]


@pytest.mark.parametrize("deletion", DELETIONS)
async def test_a_deleted_memory_waits_no_longer(
    services: Services, sql: Connection, deletion: Deletion
) -> None:
    ids = [
        (await commit(services, TENANT, "scout", content, user_id="alice")).memory_id
        for content in ("The heron waits.", "The gate is closed.")
    ]
    await sql.execute(SAME_ID, TENANT)
    await deletion(services, ids)
    assert await _queued(sql) == [("facts", id_) for id_ in ids]


async def test_an_absorbed_memory_waits_no_longer(services: Services, sql: Connection) -> None:
    known, repeat = [
        (await commit(services, TENANT, "scout", content)).memory_id
        for content in ("The heron waits.", "The heron is waiting.")
    ]
    await sql.execute(SAME_ID, TENANT)
    await queries.absorb(sql, TENANT, known, repeat)
    waiting = [("agent_memory", known), ("facts", known), ("facts", repeat)]
    assert await _queued(sql) == waiting


async def test_a_vector_of_what_was_restated_meanwhile_is_not_stored(
    services: Services, sql: Connection
) -> None:
    """The same text of another speaker has another vector."""
    stated = await commit(services, TENANT, "scout", "The heron waits at the weir. " * 200)
    read = await sql.fetchrow(
        "select id as item_id, content, 'Ana' as who from memory.agent_memory where tenant = $1", TENANT
    )
    assert read is not None
    await services.commits._rules.finish(sql, TENANT, read, [])
    assert await _queued(sql) == [("agent_memory", stated.memory_id)]


async def test_a_vector_of_an_imported_text_that_was_edited_meanwhile_is_not_stored(
    services: Services, sql: Connection
) -> None:
    """What identifies it is its origin, which stays."""
    memory = WriteMemoryInput(kind="knowledge", scope="shared", content="The heron waits.", origin="mem0:7")
    (written,) = (await services.long_term.write(who(TENANT), [memory], None, Deadline(10))).results
    read = await sql.fetchrow(long_term.STATEMENTS.texts, [TENANT], [written.id])
    assert read is not None
    change = EditMemoryInput(content="The heron has left.")
    await services.long_term.edit(who(TENANT), written.id, change, Deadline(10))
    await long_term.finish(sql, services.long_term._model, [Embedded(read, [])])
    assert await _queued(sql) == [("memory", written.id)]


async def test_a_memory_that_a_purge_erases_meanwhile_gets_no_vector(
    services: Services, sql: Connection
) -> None:
    """An error would lose the vectors of the memories that were embedded with it."""
    await commit(services, TENANT, "scout", "The heron waits.")
    read = await sql.fetchrow(
        "select id as item_id, content, '' as who from memory.agent_memory where tenant = $1", TENANT
    )
    assert read is not None

    async def finish(c: Connection) -> None:
        await services.commits._rules.finish(c, TENANT, read, [HalfVector([1.0] * 512)])

    async def waits() -> None:
        assert await sql.fetchval(WAITS)

    async with sql.transaction():
        await sql.execute("delete from memory.agent_memory where tenant = $1", TENANT)
        finishing = asyncio.ensure_future(
            services.commits._database.transaction(TENANT, finish, Deadline(MANY_SECONDS))
        )
        await until(waits)
    await finishing


async def _queued(sql: Connection) -> list[tuple[str, int]]:
    return [(row["store"], row["item_id"]) for row in await sql.fetch(QUEUED, TENANT)]
