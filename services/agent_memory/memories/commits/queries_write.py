"""The SQL that writes memories, with their words, vectors and events."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

from pgvector import HalfVector

from services.agent_memory.chunk_words import ChunkWords, slices
from services.agent_memory.memories.commits.queries_repeats import Commit
from services.agent_memory.memories.commits.rows import MemoryRow
from shared.concurrency.courtesy import make_way_holding
from shared.database.postgres import Connection
from shared.review.reviews import NOTHING_UNDER_REVIEW, scopes_of

# Writing the words of so many chunks takes PostgreSQL some 6 ms. A request that has more of them writes them by several
# statements, and a tenant that wants too much rests between these.
_CHUNKS_AT_ONCE = 32

_Parts: TypeAlias = list[tuple[int, ChunkWords]]
"""Words with the places of their memories."""


class _Cut(NamedTuple):
    begun: list[ChunkWords]
    """Of each memory, what the statement that writes it writes of its words, too."""
    more: list[_Parts]
    """What each of the other statements writes."""


def _cut(words: Sequence[ChunkWords]) -> _Cut:
    cut, first, room = _Cut([], []), _first(words), 0
    for place, own in enumerate(words):
        begun, *more = slices(own, first, _CHUNKS_AT_ONCE)
        cut.begun.append(begun)
        for part in more:
            if len(part.starts) > room:
                cut.more.append([])
                room = _CHUNKS_AT_ONCE
            cut.more[-1].append((place, part))
            room -= len(part.starts)
    return cut


def _first(words: Sequence[ChunkWords]) -> int:
    """How many chunks of each memory the statement that writes the memories writes, too."""
    every = sum(len(own.starts) for own in words)
    return max(1, every if every <= _CHUNKS_AT_ONCE else _CHUNKS_AT_ONCE // len(words))


def in_one_statement(words: Sequence[ChunkWords]) -> bool:
    """Whether memories with these words are written by one statement."""
    first = _first(words)
    return all(len(own.starts) <= first for own in words)


INSERT = "select memory_id from memory.put_memories($1, $2, $3, $4, $5, $6)"


async def insert(
    connection: Connection,
    tenant: str,
    memories: Sequence[MemoryRow],
    words: Sequence[ChunkWords],
    vectors: Sequence[HalfVector | None],
    *,
    model: str,
    events: bool,
) -> list[int]:
    """Writes them in this order, and returns their ids. Needs a transaction unless `in_one_statement`."""
    cut = _cut(words)
    rows = await connection.fetch(INSERT, tenant, memories, cut.begun, list(vectors), model, events)
    ids = [row["memory_id"] for row in rows]
    await _put_more(connection, tenant, ids, cut.more)
    return ids


async def _put_more(connection: Connection, tenant: str, ids: Sequence[int], more: Sequence[_Parts]) -> None:
    for parts in more:
        await make_way_holding()
        places, words = zip(*parts, strict=True)
        await connection.execute(PUT_CHUNKS, tenant, [ids[place] for place in places], list(words))


# Nothing is written where one of the scopes in $12 is under review: the function's arguments depend on that.
COMMIT_NEW = f"""
select made.memory_id
from (select $1::text as tenant where {NOTHING_UNDER_REVIEW.format(tenant="$1", scopes="$12")} offset 0) free
cross join lateral memory.commit_new_facts(free.tenant, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) made
"""


async def commit_new(
    connection: Connection,
    tenant: str,
    commits: Sequence[Commit],
    memories: Sequence[MemoryRow],
    words: Sequence[ChunkWords],
    *,
    model: str,
    distance: float,
) -> list[int]:
    """Takes the agents' locks, and inserts the memories in this order. Returns their ids, or nothing if it wrote none
    because a commit may repeat a memory or another commit, or has to wait for a reviewer. No two commits have the same
    agent and fact. Needs a transaction unless `in_one_statement`."""
    cut = _cut(words)
    ruling = {scope for one in commits for scope in scopes_of(one.memory.mission_namespace, one.agent)}
    rows = await connection.fetch(
        COMMIT_NEW,
        tenant,
        [commit.agent for commit in commits],
        [commit.fact for commit in commits],
        [commit.stated for commit in commits],
        [commit.vector for commit in commits],
        [commit.memory.private for commit in commits],
        [commit.memory.user_id for commit in commits],
        memories,
        cut.begun,
        model,
        distance,
        sorted(ruling),
    )
    ids = [row["memory_id"] for row in rows]
    if ids:
        await _put_more(connection, tenant, ids, cut.more)
    return ids


# $1 is the MemoryRow, $2 its tenant.
RESTATE = """
update memory.agent_memory m set
    chunks = r.chunks, private = r.private, session_id = r.session_id, seq = r.seq, user_id = r.user_id,
    content = r.content, content_hash = r.content_hash, stated_hash = r.stated_hash, memory_type = r.memory_type,
    task_description = r.task_description, skills_used = r.skills_used, outcome = r.outcome,
    mission_namespace = r.mission_namespace, occurred_at = r.occurred_at, speaker = r.speaker,
    language = r.language, paths = r.paths, symbols = r.symbols, step = r.step,
    written_by = r.written_by, source_kind = r.source_kind, source_claim = r.source_claim,
    recalled_from = r.recalled_from, dispatch_id = r.dispatch_id, token_count = r.token_count,
    updated_at = statement_timestamp()
from jsonb_populate_record(null::memory.agent_memory, $1) r
where m.tenant = $2 and m.id = r.id
"""
DROP_CHUNKS = "delete from memory.agent_memory_chunks where tenant = $1 and item_id = $2"
PUT_CHUNKS = "select memory.put_chunks($1, $2, $3)"
HIDE_VECTORS = """
update memory.agent_memory_vec set private = $3 where tenant = $1 and item_id = $2 and private <> $3
"""


async def restate(connection: Connection, row: MemoryRow, words: ChunkWords) -> None:
    """Replaces what the memory states, and its words for search."""
    await connection.execute(RESTATE, row, row.tenant)
    await connection.execute(DROP_CHUNKS, row.tenant, row.id)
    for each in slices(words, _CHUNKS_AT_ONCE, _CHUNKS_AT_ONCE):
        await make_way_holding()
        await connection.execute(PUT_CHUNKS, row.tenant, [row.id], [each])
    await connection.execute(HIDE_VECTORS, row.tenant, row.id, row.private)
