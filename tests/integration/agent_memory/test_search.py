"""Which form of its statement a store is searched with, and what a search learns of a scope."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import NamedTuple
from uuid import uuid4

import asyncpg
import msgspec
import pytest

from local.database import Database
from services.agent_memory.memories.queries_search import (
    SEARCH_OWN,
    SEARCH_PEERS,
    common_among_peers,
    count_peers,
    own_scope,
    peers_scope,
)
from shared.database.postgres import Connection
from shared.database.postgres import Database as Pool
from shared.deadline import Deadline
from shared.search import counts, sql, store
from shared.search.counts import HNSW_SETTINGS
from shared.search.evidence import Candidate, candidate_from_row
from shared.search.sql import Forms, Values
from shared.search.store import Hnsw, Scope, StoreQuery, StoreSearch

QUERY = StoreQuery(query="which port?", vector=None, model="m")


class Ran(NamedTuple):
    """A statement as it ran."""

    values: Values
    approximate: bool
    ef_search: str | None


@pytest.fixture
async def pool(database: Database) -> AsyncIterator[Pool]:
    pool = Pool(database.services["agent_memory"])
    await pool.open()
    yield pool
    await pool.close()


@pytest.fixture
def ran(monkeypatch: pytest.MonkeyPatch) -> list[Ran]:
    search, statements = sql.search, list[Ran]()

    async def recording(
        connection: Connection, forms: Forms, values: Values, *, approximate: bool = False
    ) -> list[asyncpg.Record]:
        rows = await search(connection, forms, values, approximate=approximate)
        ef_search = await connection.fetchval("select current_setting('hnsw.ef_search', true)")
        statements.append(Ran(values, approximate, ef_search))
        return rows

    monkeypatch.setattr(sql, "search", recording)
    return statements


@pytest.fixture
def tenant() -> str:
    return f"search-{uuid4().hex[:8]}"


def candidate(row: asyncpg.Record) -> Candidate:
    return candidate_from_row(row, row["content"])


def peers(pool: Pool) -> StoreSearch:
    return StoreSearch(
        pool, "agent_memory_peer", SEARCH_PEERS, candidate, Hnsw(count_peers, common_among_peers, covers)
    )


async def covers(connection: Connection, scope: Scope) -> bool:
    return True


async def test_a_small_scope_is_searched_exactly(pool: Pool, ran: list[Ran], tenant: str) -> None:
    found = await peers(pool).search(QUERY, peers_scope(tenant, "scout"), Deadline(10))
    assert found.stores["agent_memory_peer"].documents == 0
    assert [one.approximate for one in ran] == [False]
    assert ran[0].ef_search != HNSW_SETTINGS["hnsw.ef_search"]


async def test_a_large_scope_is_searched_through_hnsw(
    pool: Pool, ran: list[Ran], tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "EXACT_UP_TO", 100)
    counted = 0

    async def count(connection: Connection, scope: Scope) -> int:
        nonlocal counted
        counted += 1
        return 5_000

    search = StoreSearch(
        pool, "agent_memory_peer", SEARCH_PEERS, candidate, Hnsw(count, common_among_peers, covers)
    )
    for agent in ("scout", "clerk"):
        await search.search(QUERY, peers_scope(tenant, agent), Deadline(10))
    assert [one.approximate for one in ran] == [True, True]
    assert {one.ef_search for one in ran} == {HNSW_SETTINGS["hnsw.ef_search"]}
    # The agents of a tenant share what is known of it.
    assert counted == 1
    assert {one.values.documents for one in ran} == {5_000}


async def test_a_store_without_an_index_of_neighbours_is_searched_exactly(
    pool: Pool, ran: list[Ran], tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store, "EXACT_UP_TO", -1)
    own = StoreSearch(pool, "agent_memory_own", SEARCH_OWN, candidate)
    await own.search(QUERY, own_scope(tenant, "scout"), Deadline(10))
    assert [one.approximate for one in ran] == [False]


async def test_a_large_scope_without_an_index_of_neighbours_is_counted_rarely(
    pool: Pool, ran: list[Ran], tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(counts, "_SMALL", 0)
    own = StoreSearch(pool, "agent_memory_own", SEARCH_OWN, candidate)
    for _ in range(2):
        await own.search(QUERY, own_scope(tenant, "scout"), Deadline(10))
    assert [one.values.documents for one in ran] == [None, 0]


async def test_a_search_of_the_past_is_bounded_by_the_last_id_of_then(
    pool: Pool, ran: list[Ran], tenant: str
) -> None:
    past = msgspec.structs.replace(QUERY, as_of=datetime(2020, 1, 1, tzinfo=UTC))
    await peers(pool).search(past, peers_scope(tenant, "scout"), Deadline(10))
    assert ran[0].values.until == 0


async def test_common_words_are_learned_from_a_search_of_now(
    pool: Pool, ran: list[Ran], tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned: list[str] = []
    search = peers(pool)
    monkeypatch.setattr(search._common, "put", lambda scope, *_: learned.append(scope))
    scope = peers_scope(tenant, "scout")
    await search.search(
        msgspec.structs.replace(QUERY, as_of=datetime(2020, 1, 1, tzinfo=UTC)), scope, Deadline(10)
    )
    assert learned == []
    await search.search(QUERY, scope, Deadline(10))
    assert learned == [scope.name]
