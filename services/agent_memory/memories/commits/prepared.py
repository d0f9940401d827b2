"""What of commits needs no connection."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import msgspec
from pgvector import HalfVector

from services.agent_memory.chunk_words import ChunkWords
from services.agent_memory.memories.commits.queries_repeats import Commit
from services.agent_memory.memories.commits.rows import Hashes, MemoryRow, memory_row, words_of
from shared.concurrency.threads import beside_each
from shared.text import characters


class Prepared(NamedTuple):
    """Commits of a tenant with the rows that they become if they repeat nothing."""

    tenant: str
    commits: Sequence[Commit]
    rows: Sequence[MemoryRow]
    words: Sequence[ChunkWords]

    def with_vectors(self, vectors: Sequence[HalfVector | None]) -> Prepared:
        """The same with these vectors, in the order of the commits."""
        commits = [one._replace(vector=vector) for one, vector in zip(self.commits, vectors, strict=True)]
        rows = [
            msgspec.structs.replace(row, pending=_waits_for_vector(commit))
            for row, commit in zip(self.rows, commits, strict=True)
        ]
        return self._replace(commits=commits, rows=rows)


async def prepare(tenant: str, commits: Sequence[Commit]) -> Prepared:
    # Another process, which may make the rows, has no use for the vectors.
    bare = [one._replace(vector=None) for one in commits]
    made = await beside_each(bare, lambda one: characters(one.memory), partial(_made, tenant))
    given = Prepared(tenant, bare, [row for row, _ in made], [words for _, words in made])
    return given.with_vectors([one.vector for one in commits])


def _made(tenant: str, commits: Sequence[Commit]) -> list[tuple[MemoryRow, ChunkWords]]:
    rows = [_row_of(tenant, one) for one in commits]
    return [(row, words_of(row)) for row in rows]


def _row_of(tenant: str, commit: Commit) -> MemoryRow:
    assert commit.fact is not None
    return memory_row(tenant, commit.agent, commit.memory, Hashes(commit.fact, commit.stated))


def _waits_for_vector(commit: Commit) -> bool:
    """A text without this hash is too long to be compared by its vector."""
    return commit.vector is None and commit.stated is not None
