"""The SQL that finds what commits, edits and late vectors repeat. One statement serves any number of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import asyncpg
from pgvector import HalfVector

from services.agent_memory.memories.commits.content import MemoryContent
from shared.database.postgres import Connection


class Commit(NamedTuple):
    """A memory as an agent states it."""

    agent: str
    memory: MemoryContent
    fact: bytes | None
    """The memory's content hash. None: only near memories count as repeats."""
    stated: int | None
    """Its hash of what it states. Only a near memory with the same one counts."""
    vector: HalfVector | None
    """None when the embedder failed, and for memories of more than one chunk."""


FIND_REPEATS = """
select place, id, earlier, content, written_by, mission_namespace, distance
from memory.find_same_facts($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
"""


async def find_repeats(
    connection: Connection,
    tenant: str,
    commits: Sequence[Commit],
    *,
    model: str,
    distance: float,
    other_than: int = 0,
) -> list[asyncpg.Record]:
    """What each commit may repeat, by its place from 1 on. The nearest come first, stored memories before commits."""
    rows: list[asyncpg.Record] = await connection.fetch(
        FIND_REPEATS,
        tenant,
        [commit.agent for commit in commits],
        [commit.fact for commit in commits],
        [commit.stated for commit in commits],
        [commit.vector for commit in commits],
        [commit.memory.private for commit in commits],
        [commit.memory.user_id for commit in commits],
        model,
        distance,
        other_than,
    )
    return rows
