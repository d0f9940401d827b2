"""What of long-term memories needs no connection."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

from services.agent_memory.chunk_words import ChunkWords
from services.agent_memory.long_term.content import LongTermContent, LongTermRow, row_of, words_of
from shared.concurrency.threads import beside_each
from shared.text import characters


class Prepared(NamedTuple):
    rows: list[LongTermRow]
    words: list[ChunkWords]


async def prepare(tenant: str, memories: Sequence[LongTermContent], memory_id: int | None = None) -> Prepared:
    """`memory_id` is that of the only one, if it is stored already."""
    made = await beside_each(memories, characters, partial(_made, tenant, memory_id))
    return Prepared([row for row, _ in made], [words for _, words in made])


def _made(
    tenant: str, memory_id: int | None, memories: Sequence[LongTermContent]
) -> list[tuple[LongTermRow, ChunkWords]]:
    rows = [row_of(tenant, memory, memory_id) for memory in memories]
    return [(row, words_of(row)) for row in rows]
