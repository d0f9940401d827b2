"""An owner whose tables Citus distributes searches with statements only. Nothing but Citus's catalog is made up."""

from __future__ import annotations

from collections.abc import AsyncIterator

import asyncpg
import pytest
from structlog.testing import capture_logs

from local.database import Database
from shared.database.postgres import Database as Pool
from shared.search.hot.opening import open_scopes
from tests.support.agent_memory import fake_embedding, replica
from tests.support.fakes.fake_openai import FakeOpenAI

CHUNKS = "memory.agent_memory_chunks"
CATALOG = """
create table public.pg_dist_partition (logicalrelid regclass);
grant select on public.pg_dist_partition to public;
"""
DISTRIBUTE = "insert into public.pg_dist_partition values ($1::text::regclass)"
OFF = "hot scopes: off, because the table is distributed"


@pytest.fixture
async def admin(fresh_database: Database) -> AsyncIterator[asyncpg.Connection[asyncpg.Record]]:
    connection = await asyncpg.connect(fresh_database.admin)
    yield connection
    await connection.close()


@pytest.fixture
async def pool(fresh_database: Database) -> AsyncIterator[Pool]:
    pool = Pool(fresh_database.services["agent_memory"])
    await pool.open()
    yield pool
    await pool.close()


async def budget(pool: Pool, megabytes: int = 64) -> int:
    return (await open_scopes(pool, megabytes, CHUNKS))._budget


async def test_only_distributed_tables_turn_hot_scopes_off(
    admin: asyncpg.Connection[asyncpg.Record], pool: Pool
) -> None:
    assert await budget(pool) == 64 * 1024 * 1024
    await admin.execute(CATALOG)
    await admin.execute(DISTRIBUTE, "memory.agent_memory")
    assert await budget(pool) == 64 * 1024 * 1024
    await admin.execute(DISTRIBUTE, CHUNKS)
    with capture_logs() as logged:
        assert await budget(pool) == 0
        assert await budget(pool, megabytes=0) == 0
    assert [line["event"] for line in logged] == [OFF]


async def test_an_owner_finds_out_when_it_starts(
    admin: asyncpg.Connection[asyncpg.Record],
    fresh_database: Database,
    redis_url: str,
    embedding_api: FakeOpenAI,
) -> None:
    await admin.execute(CATALOG)
    await admin.execute(DISTRIBUTE, CHUNKS)
    with capture_logs() as logged:
        async with replica(fresh_database, redis_url, fake_embedding(embedding_api)):
            pass
    assert [line["table"] for line in logged if line["event"] == OFF] == [CHUNKS]
