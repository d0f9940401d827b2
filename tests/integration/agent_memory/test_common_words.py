"""Which chunks of a large scope a question's words select: those of rare words, and few of common ones."""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import uuid4

import asyncpg
import pytest

from local.database import Database
from services.agent_memory.memories import queries_search
from services.agent_memory.memories.queries_search import common_among_peers, count_peers, peers_scope
from shared.database.postgres import Connection
from shared.database.postgres import Database as Pool
from shared.deadline import Deadline
from shared.errors import Unavailable
from shared.search import counts, sql, store
from shared.search.counts import Common
from shared.search.evidence import Candidate, candidate_from_row
from shared.search.store import Hnsw, Scope, StoreQuery, StoreSearch

MEMORIES = """
insert into memory.agent_memory
    (tenant, agent_name, content, content_hash, memory_type, token_count, chunks, written_by, source_kind, private)
select $1, 'scout', content, sha256(convert_to(content, 'utf8')), 'lesson_learned', 9, 1, 'k', 'agent', private
from unnest($2::text[], $3::bool[]) m(content, private)
"""
CHUNKS = """
insert into memory.agent_memory_chunks (tenant, scope, item_id, chunk, chunks, start, stop, words, private, tsv)
select m.tenant, m.scope, m.id, 0, 1, 0, length(m.content), w.words, m.private, w.tsv
from memory.agent_memory m
cross join lateral memory.chunk_words(
    null, array[0], array[length(m.content)], array[m.content], array['english'], array[''], '', null) w
where m.tenant = $1
"""
# Of 100, all speak of the harbour, ten of a crane, ten of a gate, two of them of both, and two of a weir.
SHARED = (
    [f"harbour crane {number}" for number in range(8)]
    + [f"harbour crane gate {number}" for number in range(2)]
    + [f"harbour gate {number}" for number in range(8)]
    + [f"harbour weir {number}" for number in range(2)]
    + [f"harbour {number}" for number in range(80)]
)
PRIVATE = [f"safe {number}" for number in range(20)]
MOST = 3


@pytest.fixture
async def pool(database: Database) -> AsyncIterator[Pool]:
    pool = Pool(database.services["agent_memory"], connections=2)
    await pool.open()
    yield pool
    await pool.close()


@pytest.fixture
async def tenant(database: Database, sql: Connection) -> AsyncIterator[str]:
    tenant = f"common-{uuid4().hex[:8]}"
    connection = await asyncpg.connect(database.admin)
    try:
        await connection.execute("set session_replication_role = replica")
        flags = [False] * len(SHARED) + [True] * len(PRIVATE)
        await connection.execute(MEMORIES, tenant, [*SHARED, *PRIVATE], flags)
        await connection.execute(CHUNKS, tenant)
        yield tenant
        for table in ("agent_memory_chunks", "agent_memory"):
            await connection.execute(f"delete from memory.{table} where tenant = $1", tenant)
    finally:
        await connection.close()


async def covers(connection: Connection, scope: Scope) -> bool:
    return True


def candidate(row: asyncpg.Record) -> Candidate:
    return candidate_from_row(row, row["content"])


@pytest.fixture
def peers(pool: Pool, monkeypatch: pytest.MonkeyPatch) -> StoreSearch:
    """Any scope is large, and a word selects three chunks at most."""
    monkeypatch.setattr(store, "EXACT_UP_TO", 0)
    monkeypatch.setattr(counts, "MOST_SELECTED", MOST)
    monkeypatch.setattr(sql, "MOST_SELECTED", MOST)
    forms = sql.search_forms(queries_search._PEERS)
    hnsw = Hnsw(count_peers, common_among_peers, covers)
    return StoreSearch(pool, "agent_memory_peer", forms, candidate, hnsw)


async def found(peers: StoreSearch, tenant: str, question: str, users: list[str] | None = None) -> list[str]:
    query = StoreQuery(query=question, vector=None, model="m", users=users)
    result = await peers.search(query, peers_scope(tenant, "clerk"), Deadline(20))
    return sorted(each.text for each in result.stores["agent_memory_peer"].candidates)


async def test_a_sample_tells_which_words_are_common_of_what_is_shared(pool: Pool, tenant: str) -> None:
    scope = peers_scope(tenant, "clerk")
    known = await pool.run(tenant, lambda c: common_among_peers(c, scope, 120), Deadline(20))
    words = dict(zip(*known, strict=True))
    assert {word: words.get(word) for word in ("harbour", "crane", "gate", "weir", "safe")} == {
        "harbour": 100,
        "crane": 10,
        "gate": 10,
        "weir": None,
        "safe": None,
    }


async def test_a_sample_of_some_chunks_estimates_all(
    pool: Pool, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries_search, "SAMPLED", 30)
    scope = peers_scope(tenant, "clerk")
    known = await pool.run(tenant, lambda c: common_among_peers(c, scope, 120), Deadline(20))
    assert dict(zip(*known, strict=True))["harbour"] == 100


@pytest.mark.parametrize("users", [None, ["alice"]])
async def test_a_rare_word_selects_all_and_common_ones_few(
    peers: StoreSearch, tenant: str, users: list[str] | None
) -> None:
    texts = await found(peers, tenant, "harbour crane weir", users)
    rare = [text for text in texts if "weir" in text]
    assert rare == ["harbour weir 0", "harbour weir 1"]
    assert len(texts) == len(rare) + MOST
    assert all("crane" in text for text in texts if text not in rare)


@pytest.mark.parametrize("users", [None, ["alice"]])
async def test_common_words_select_what_holds_two_of_them(
    peers: StoreSearch, tenant: str, users: list[str] | None
) -> None:
    assert await found(peers, tenant, "crane gate harbour", users) == [
        "harbour crane gate 0",
        "harbour crane gate 1",
    ]


async def test_a_common_word_alone_selects_some(peers: StoreSearch, tenant: str) -> None:
    assert len(await found(peers, tenant, "harbour")) == MOST


async def test_a_long_question_reads_no_more_than_a_scope_that_is_searched_exactly(
    peers: StoreSearch, tenant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sql, "EXACT_UP_TO", 1)
    peers._forms = sql.search_forms(queries_search._PEERS)
    assert len(await found(peers, tenant, "weir")) == 1


async def test_the_words_are_sampled_once(peers: StoreSearch, tenant: str, pool: Pool) -> None:
    await found(peers, tenant, "harbour")

    async def fails(*_: object) -> Common:
        raise Unavailable("postgres", "asked again")

    peers._hnsw = Hnsw(count_peers, fails, covers)
    assert len(await found(peers, tenant, "harbour")) == MOST
