"""The vector of a question belongs to the tenant that asked it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import numpy as np
import pytest

from local.database import Database
from shared.database.embedding_table import EmbeddingTable
from shared.database.postgres import Connection
from shared.database.postgres import Database as Pool
from shared.embeddings import DIM
from tests.integration.conftest import Tenant
from tests.support.calls import question, until
from tests.support.fakes.fake_openai import FakeOpenAI

QUESTION = "Is the merger with the heron off?"


async def test_another_tenants_question_is_embedded_again(
    tenants: tuple[Tenant, Tenant], embedding_api: FakeOpenAI, sql: Connection
) -> None:
    one, other = [await tenant.client("read") for tenant in tenants]
    for client in (one, one, other):
        answer = await client.post("/api/context/assemble", question("m", QUESTION))
        assert (answer.status, answer.body["degraded"]) == (200, []), answer
    assert embedding_api.texts().count(QUESTION) == 2

    async def kept() -> None:
        names = [tenant.name for tenant in tenants]
        rows = await sql.fetch("select tenant from context.embedding_cache where tenant = any($1)", names)
        assert sorted(row["tenant"] for row in rows) == sorted(names)

    await until(kept)


@pytest.fixture
async def table(database: Database) -> AsyncIterator[EmbeddingTable]:
    pool = Pool(database.services["context"], application="cached-vectors")
    await pool.open()
    yield EmbeddingTable(pool, "context")
    await pool.close()


async def test_vectors_of_a_moment_are_written_at_once_and_read_by_their_tenant(
    table: EmbeddingTable, tenants: tuple[Tenant, Tenant], sql: Connection
) -> None:
    one, other = (tenant.name for tenant in tenants)
    keys = [f"{number} of {one}".encode() for number in range(4)]
    vectors = {key: np.full(DIM, number, np.float32) for number, key in enumerate(keys)}
    written = [table.store(one, {key: vectors[key]}) for key in keys[:3]]
    await asyncio.gather(*written, table.store(other, {keys[3]: vectors[keys[3]]}))
    transactions = "select count(distinct xmin::text) from context.embedding_cache where tenant = $1"
    assert [await sql.fetchval(transactions, name) for name in (one, other)] == [1, 1]
    found = [await table.load(name, keys) for name in (one, other)]
    assert [sorted(rows) for rows in found] == [keys[:3], keys[3:]]
    assert all(np.array_equal(row, vectors[key]) for rows in found for key, row in rows.items())
