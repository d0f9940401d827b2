"""The rows of a memory. SQL takes these structs as jsonb, with column names as keys."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from services.agent_memory.chunk_words import ChunkWords, bodies_of
from services.agent_memory.memories.commits.content import MemoryContent
from shared.concurrency.threads import beside, beside_each
from shared.embeddings import fact_key, stated_key
from shared.provenance import head
from shared.search import code
from shared.search.chunking import chunk, is_short
from shared.search.lexicon import Hints, indexed
from shared.text import characters
from shared.tokens import estimate_tokens_of


class MemoryRow(MemoryContent, frozen=True, kw_only=True):
    """A row of `memory.agent_memory`. The database sets the id and times if they are None."""

    tenant: str
    agent_name: str
    content_hash: str
    """In Postgres's hex format of a bytea."""
    stated_hash: int | None
    token_count: int
    chunks: int
    id: int | None = None
    pending: bool = False
    access_count: int = 0
    confirmed_count: int = 0
    confirmed_at: datetime | None = None
    created_at: datetime | None = None
    updated_at: datetime | None = None


class Hashes(NamedTuple):
    """By which a memory is compared with others of its agent."""

    content: bytes
    """Equal for texts that differ only in case, punctuation and spacing, and are about the same user or none."""
    stated: int | None
    """Equal for all texts that may state the same fact, of 64 bits. None for more than one chunk: a text that long is
    compared by its content alone."""


async def content_hashes(memories: Sequence[MemoryContent]) -> list[Hashes]:
    return await beside_each(memories, characters, _hashes)


def _hashes(memories: Sequence[MemoryContent]) -> list[Hashes]:
    return [hashes(memory.content, memory.user_id) for memory in memories]


def hashes(content: str, user_id: str | None) -> Hashes:
    fact = hashlib.sha256(fact_key(content).encode()).digest()
    if user_id is not None:
        fact = hashlib.sha256(fact + user_id.encode()).digest()
    if not is_short(content):
        return Hashes(fact, None)
    stated = hashlib.sha256(stated_key(content).encode()).digest()
    return Hashes(fact, int.from_bytes(stated[:8], signed=True))


# Fields with few fixed values, or set by the service.
_UNCOUNTED = frozenset(
    ["memory_type", "private", "language", "step", "source_kind", "source_claim", "written_by"]
)


def memory_tokens(agent: str, memory: MemoryContent) -> int:
    """The tokens of everything in a memory that can be read back."""
    stated = msgspec.structs.asdict(memory)
    return estimate_tokens_of([agent, *(stated[name] for name in stated.keys() - _UNCOUNTED)])


def memory_row(tenant: str, agent: str, memory: MemoryContent, own: Hashes, **columns: Any) -> MemoryRow:
    """`own` are the memory's. `columns` are the fields that a commit does not state, such as `id` and `pending`."""
    return MemoryRow(
        **msgspec.structs.asdict(memory),
        tenant=tenant,
        agent_name=agent,
        content_hash=f"\\x{own.content.hex()}",
        stated_hash=own.stated,
        token_count=memory_tokens(agent, memory),
        chunks=len(chunk(memory.content)),
        **columns,
    )


def words_of(row: MemoryRow) -> ChunkWords:
    kind = row.memory_type.replace("_", " ")
    about_code = [*row.paths, *row.symbols]
    hints = Hints(terms=code.given(about_code), language=row.language)
    words = indexed(row.content, hints)
    return ChunkWords(
        **msgspec.structs.asdict(words),
        bodies=bodies_of(row.content, words),
        head=head(
            row.speaker or row.agent_name,
            row.occurred_at,
            kind,
            row.task_description,
            *row.skills_used,
            *map(code.spaced, about_code),
        ),
    )


async def made(
    tenant: str, agent: str, memory: MemoryContent, own: Hashes, **columns: Any
) -> tuple[MemoryRow, ChunkWords]:
    """As `memory_row`, with the words for search."""
    return await beside(characters(memory), _made, tenant, agent, memory, own, **columns)


def _made(
    tenant: str, agent: str, memory: MemoryContent, own: Hashes, **columns: Any
) -> tuple[MemoryRow, ChunkWords]:
    row = memory_row(tenant, agent, memory, own, **columns)
    return row, words_of(row)
