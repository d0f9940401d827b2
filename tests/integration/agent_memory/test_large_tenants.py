"""Only large tenants have vectors in the HNSW index, and are searched through it once it holds all of theirs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from uuid import uuid4

import pytest
from pgvector import HalfVector

from local.database import Database
from services.agent_memory.app import Services
from services.agent_memory.memories.queries_search import (
    SEARCH_PEERS,
    common_among_peers,
    count_peers,
    peers_scope,
)
from services.agent_memory.vector_index.service import VectorIndex
from shared.database.postgres import Connection
from shared.database.postgres import Database as Pool
from shared.deadline import Deadline
from shared.embeddings import EmbeddingSettings
from shared.search import sql, store
from shared.search.evidence import Candidate, candidate_from_row
from shared.search.sql import Forms, Values
from shared.search.store import Hnsw, StoreQuery, StoreSearch
from tests.support.agent_memory import MANY_SECONDS, commit, replica

FACTS = ["The heron waits at the weir.", "Invoices need a second signature.", "The gate closes at nine."]
LARGE = "select large, count(*) from memory.agent_memory_vec where tenant = $1 group by large order by large"
COMPLETE = "select complete from memory.large_tenants where tenant = $1"
# A tenant that has been named for a while. The service under test builds what has been incomplete for two minutes, too.
ADD = """
insert into memory.large_tenants (tenant, since, complete)
values ($1, clock_timestamp() - $2::interval, $3)
"""
AT_ONCE = timedelta(0)


@pytest.fixture(scope="module")
async def services(database: Database, redis_url: str) -> AsyncIterator[Services]:
    async with replica(database, redis_url, EmbeddingSettings()) as services:
        yield services


@pytest.fixture
async def pool(database: Database) -> AsyncIterator[Pool]:
    pool = Pool(database.services["agent_memory"], connections=2)
    await pool.open()
    yield pool
    await pool.close()


@pytest.fixture
async def tenant(services: Services, sql: Connection) -> AsyncIterator[str]:
    """A tenant with the facts, and without a row of its own when the test is over."""
    tenant = f"large-{uuid4().hex[:8]}"
    for fact in FACTS:
        await commit(services, tenant, "scout", fact)
    yield tenant
    await sql.execute("delete from memory.large_tenants where tenant = $1", tenant)


async def held(sql: Connection, tenant: str) -> dict[bool, int]:
    return {row["large"]: row["count"] for row in await sql.fetch(LARGE, tenant)}


class Searches:
    """Searches of peers that are large from the first memory on, and which of them went through HNSW."""

    def __init__(self, pool: Pool, index: VectorIndex, monkeypatch: pytest.MonkeyPatch) -> None:
        self.approximate: list[bool] = []
        monkeypatch.setattr(store, "EXACT_UP_TO", 0)
        run = sql.search

        async def noting(c: Connection, forms: Forms, values: Values, *, approximate: bool = False) -> object:
            self.approximate.append(approximate)
            return await run(c, forms, values, approximate=approximate)

        monkeypatch.setattr(sql, "search", noting)
        self._search = StoreSearch(
            pool,
            "agent_memory_peer",
            SEARCH_PEERS,
            lambda row: candidate_from_row(row, row["content"]),
            Hnsw(count_peers, common_among_peers, index.covers),
        )

    async def near(self, services: Services, tenant: str, text: str) -> list[Candidate]:
        """What a search by meaning alone finds, the nearest first."""
        embedder = services.commits._embedder
        (vector,) = await embedder.embed([text], "document", tenant)
        query = StoreQuery(query="?", vector=HalfVector(vector), model=embedder.model)
        found = await self._search.search(query, peers_scope(tenant, "clerk"), Deadline(MANY_SECONDS))
        candidates = found.stores["agent_memory_peer"].candidates
        return sorted(candidates, key=lambda candidate: -(candidate.cosine or 0))


async def test_a_large_tenant_is_searched_exactly_until_the_index_holds_all(
    services: Services, pool: Pool, sql: Connection, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = VectorIndex(pool, settling=AT_ONCE)
    searches = Searches(pool, index, monkeypatch)
    assert await held(sql, tenant) == {False: 3}
    first = await searches.near(services, tenant, FACTS[0])
    await index.build()
    assert await held(sql, tenant) == {True: 3}
    assert await sql.fetchval(COMPLETE, tenant)
    again = await searches.near(services, tenant, FACTS[0])
    assert searches.approximate == [False, True]
    assert [one.text for one in again] == [one.text for one in first]
    assert again[0].text == FACTS[0]


async def test_new_vectors_of_a_large_tenant_are_indexed_at_once(
    services: Services, sql: Connection, tenant: str
) -> None:
    await sql.execute(ADD, tenant, timedelta(0), False)
    new = await commit(services, tenant, "scout", "The ledger is audited in May.")
    assert await sql.fetchval(
        "select large from memory.agent_memory_vec where tenant = $1 and item_id = $2", tenant, new.memory_id
    )


async def test_the_index_is_complete_only_once_older_transactions_have_ended(
    pool: Pool, sql: Connection, tenant: str
) -> None:
    index = VectorIndex(pool, settling=timedelta(days=1))
    await sql.execute(ADD, tenant, timedelta(0), False)
    await index.build()
    assert await held(sql, tenant) == {True: 3}
    assert not await sql.fetchval(COMPLETE, tenant)
    await sql.execute(
        "update memory.large_tenants set since = since - interval '2 days' where tenant = $1", tenant
    )
    await index.build()
    assert await sql.fetchval(COMPLETE, tenant)


async def test_a_new_process_indexes_what_the_release_before_left_out(
    pool: Pool, sql: Connection, tenant: str
) -> None:
    await sql.execute(ADD, tenant, timedelta(days=3), True)
    await VectorIndex(pool).build()
    assert await held(sql, tenant) == {True: 3}


async def test_building_waits_for_no_deletion(pool: Pool, sql: Connection, tenant: str) -> None:
    index = VectorIndex(pool, settling=AT_ONCE)
    await sql.execute(ADD, tenant, timedelta(days=3), False)
    async with sql.transaction():
        await sql.execute(
            "delete from memory.agent_memory where tenant = $1 and content = $2", tenant, FACTS[0]
        )
        await index.build()
        assert await held(sql, tenant) == {True: 2}
        assert not await sql.fetchval(COMPLETE, tenant)
    await index.build()
    assert await sql.fetchval(COMPLETE, tenant)
