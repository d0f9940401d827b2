"""Memories of many agents: clustered vectors, words by Zipf's law."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import asyncpg
import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector

SEED = 20_261
AGENTS = TENANTS = 100
_SHARES_OF_AGENTS = (0.6, 0.3, 0.1)
MODEL = "synthetic"
DIMENSIONS, _CENTRES, _CENTRES_OF_AGENT, _SPREAD = 384, 400, 12, 0.9
_VOCABULARY, _PRIVATE = 5_000, 0.05
_BATCH = 5_000
# Most of Zipf's head are stop words, which the text configuration drops.
_HEAD = 20
Random = np.random.Generator


class Held(NamedTuple):
    tenant: str
    agent: str
    rows: int

    @property
    def scope(self) -> str:
        return f"agent:{self.agent}"


def one_tenant(rows: int) -> list[Held]:
    return [Held("default", f"agent-{number}", size) for number, size in enumerate(_sizes(rows, AGENTS))]


def many_tenants(rows: int) -> list[Held]:
    return [
        Held(f"tenant-{number}", f"agent-{agent}", max(10, int(share * size)))
        for number, size in enumerate(_sizes(rows, TENANTS))
        for agent, share in enumerate(_SHARES_OF_AGENTS)
    ]


def _sizes(rows: int, count: int) -> list[int]:
    """Falling as 1 / rank, so that the first of a hundred has about a fifth of all."""
    shares = 1.0 / np.arange(1, count + 1)
    return [max(20, int(share)) for share in shares / shares.sum() * rows]


class Words:
    """Texts of made-up words, drawn by Zipf's law."""

    def __init__(self) -> None:
        syllables = [a + b for a in "bdfgklmnprtvz" for b in "aiou"]
        made = [x + y + z + "k" for x in syllables for y in syllables for z in syllables]
        random = np.random.default_rng(SEED)
        self._words = random.choice(np.array(made), size=_VOCABULARY, replace=False)
        ranks = np.arange(_HEAD, _HEAD + _VOCABULARY)
        self._share = (1.0 / ranks) / (1.0 / ranks).sum()

    def texts(self, random: Random, count: int) -> list[str]:
        lengths = random.integers(8, 40, size=count)
        drawn = random.choice(self._words, size=int(lengths.sum()), p=self._share)
        return [" ".join(part) for part in np.split(drawn, np.cumsum(lengths)[:-1])]


def centres() -> NDArray[np.float64]:
    return np.random.default_rng(SEED).normal(size=(_CENTRES, DIMENSIONS))


def vectors(random: Random, around: NDArray[np.float64], count: int) -> NDArray[np.float32]:
    """Shape (count, 512), unit length, around a few of the centres: what an agent learns is not uniform."""
    chosen = random.choice(len(around), size=_CENTRES_OF_AGENT)
    raw = around[random.choice(chosen, size=count)] + _SPREAD * random.normal(size=(count, DIMENSIONS))
    padded = np.zeros((count, 512), np.float32)
    padded[:, :DIMENSIONS] = raw / np.linalg.norm(raw, axis=1, keepdims=True)
    return padded


_ITEMS = """
insert into memory.agent_memory
    (tenant, agent_name, content, content_hash, memory_type, private, token_count, chunks, written_by, source_kind)
select $1, $2, u.content, sha256(convert_to(u.place || u.content, 'utf8')), 'lesson_learned', u.private,
       length(u.content) / 4, 1, 'k', 'agent'
from unnest($3::text[], $4::bool[]) with ordinality u(content, private, place) order by u.place
returning id
"""
_CHUNKS = """
insert into memory.agent_memory_chunks
    (tenant, scope, item_id, chunk, chunks, start, stop, words, private, tsv)
select $1, $2, u.id, 0, 1, 0, length(u.body), w.words, u.private, w.tsv
from unnest($3::bigint[], $4::text[], $5::bool[]) u(id, body, private)
cross join lateral memory.chunk_words(
    null, array[0], array[10], array[u.body], array['english'], array[''], '', null) w
"""


async def load(connection: asyncpg.Connection[Any], held: Sequence[Held]) -> None:
    """Fills the tables, then indexes and analyses them."""
    random, words, around = np.random.default_rng(SEED + 1), Words(), centres()
    await connection.execute("drop index memory.agent_memory_vec_nearest")
    for one in held:
        embedded = vectors(random, around, one.rows)
        for start in range(0, one.rows, _BATCH):
            part = embedded[start : start + _BATCH]
            await _store(connection, one, words.texts(random, len(part)), part, random)
    await connection.execute("set maintenance_work_mem = '1GB'")
    await connection.execute(
        "create index agent_memory_vec_nearest on memory.agent_memory_vec using hnsw (embedding halfvec_cosine_ops)"
        " with (ef_construction = 128) where large"
    )
    for table in ("agent_memory", "agent_memory_chunks", "agent_memory_vec"):
        await connection.execute(f"vacuum analyze memory.{table}")


async def _store(
    connection: asyncpg.Connection[Any],
    held: Held,
    texts: list[str],
    embedded: NDArray[np.float32],
    random: Random,
) -> None:
    tenant, scope = held.tenant, held.scope
    private = [bool(one) for one in random.random(len(texts)) < _PRIVATE]
    ids = [row["id"] for row in await connection.fetch(_ITEMS, tenant, held.agent, texts, private)]
    await connection.execute(_CHUNKS, tenant, scope, ids, texts, private)
    await connection.copy_records_to_table(
        "agent_memory_vec",
        schema_name="memory",
        columns=["tenant", "scope", "item_id", "chunk", "model", "private", "large", "embedding"],
        records=[
            (tenant, scope, id_, 0, MODEL, hidden, True, HalfVector(vector))
            for id_, hidden, vector in zip(ids, private, embedded, strict=True)
        ],
    )
