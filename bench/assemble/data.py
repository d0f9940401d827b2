"""What the bench loads and asks."""

from __future__ import annotations

from typing import Any

import asyncpg
import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector

SEED = 20_265
TENANT, CALLER, MISSION = "default", "agent-0", "orders"
OTHER_TENANTS = 49
AGENTS = 10
ENTRIES = 200
# One statement per service is what a request needs at least; the slowest of them bounds it.
_SUBJECTS = [
    "orders database",
    "payment worker",
    "ledger replica",
    "webhook queue",
    "search index",
    "cache shard",
]
_EVENTS = [
    "failover took minutes",
    "lost its lease",
    "retries doubled the load",
    "lagged behind",
    "ran out of space",
]
_LESSONS = [
    "fence it first",
    "drain before restart",
    "raise the timeout",
    "check the lag",
    "never retry a 409",
]
_NOISE = 0.35

Random = np.random.Generator


def texts(random: Random, count: int) -> list[str]:
    return [
        f"{random.choice(_SUBJECTS)} {random.choice(_EVENTS)} in run {random.integers(10_000)}:"
        f" {random.choice(_LESSONS)}, said {random.choice(_SUBJECTS)} owner {random.integers(500)}"
        for _ in range(count)
    ]


def questions() -> list[str]:
    return [f"What happens when the {subject} {event}?" for subject in _SUBJECTS for event in _EVENTS]


_ITEMS = """
insert into memory.agent_memory
    (tenant, agent_name, content, content_hash, memory_type, token_count, chunks, written_by, source_kind)
select $1, 'agent-' || (u.place % $3), u.content, sha256(convert_to(u.place || u.content, 'utf8')), 'lesson_learned',
       length(u.content) / 4, 1, 'k', 'agent'
from unnest($2::text[]) with ordinality u(content, place) order by u.place
returning id, scope
"""
_CHUNKS = """
insert into memory.agent_memory_chunks
    (tenant, scope, item_id, chunk, chunks, start, stop, words, private, tsv)
select $1, u.scope, u.id, 0, 1, 0, length(u.body), w.words, false, w.tsv
from unnest($2::bigint[], $3::text[], $4::text[]) u(id, scope, body)
cross join lateral memory.chunk_words(
    null, array[0], array[length(u.body)], array[u.body], array['english'], array[''], '', null) w
"""


async def load(
    connection: asyncpg.Connection[Any], rows: int, seeds: NDArray[np.float32], model: str
) -> None:
    """`rows` memories over the tenants, with vectors around those of real sentences."""
    random = np.random.default_rng(SEED)
    each = rows // (OTHER_TENANTS + 1)
    for tenant in [TENANT, *(f"tenant-{number}" for number in range(OTHER_TENANTS))]:
        bodies = texts(random, each)
        items = await connection.fetch(_ITEMS, tenant, bodies, AGENTS)
        ids, scopes = [row["id"] for row in items], [row["scope"] for row in items]
        await connection.execute(_CHUNKS, tenant, ids, scopes, bodies)
        await connection.copy_records_to_table(
            "agent_memory_vec",
            schema_name="memory",
            columns=["tenant", "scope", "item_id", "chunk", "model", "embedding"],
            records=[
                (tenant, scope, id_, 0, model, HalfVector(vector))
                for id_, scope, vector in zip(ids, scopes, around(random, seeds, each), strict=True)
            ],
        )
    await connection.execute("vacuum analyze")


def around(random: Random, seeds: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """Shape (count, 512), unit length, near the vectors of real sentences."""
    return near(random, seeds[random.integers(len(seeds), size=count)])


def near(random: Random, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """A vector of unit length near each of the vectors."""
    noise = random.normal(size=vectors.shape) * (vectors != 0)
    noisy = vectors + _NOISE * noise / np.linalg.norm(noise, axis=1, keepdims=True)
    unit: NDArray[np.float32] = (noisy / np.linalg.norm(noisy, axis=1, keepdims=True)).astype(np.float32)
    return unit
