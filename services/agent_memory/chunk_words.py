"""The words of an item's chunks, as SQL takes them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from shared.search.lexicon import IndexedText

# What a chunk has of the text before it, as `memory.chunk_words` reads it.
_BEFORE_CHARS = 300
# The columns of a search from which `text_of` reads a chunk's text, where chunks are `c` and items `i`.
TEXT_COLUMNS = "c.body, case when c.body is null then i.content end as content"


class ChunkWords(IndexedText, frozen=True, kw_only=True):
    """The arguments of `memory.chunk_words`: besides those of the text, the words before it."""

    head: str
    bodies: list[str] | None
    """The chunks' own texts, as `bodies_of` cuts them."""
    first: int = 0
    """The number of the first of these chunks, which are a part of the item's."""
    before: str | None = None
    """The end of the chunk before the first, if there is one."""


def bodies_of(text: str, words: IndexedText) -> list[str] | None:
    """None: the text is one chunk. Each of several has its own text, or a search would read the item's for each."""
    if len(words.starts) == 1:
        return None
    return [text[start:stop] for start, stop in zip(words.starts, words.stops, strict=True)]


def slices(words: ChunkWords, first: int, most: int) -> Iterator[ChunkWords]:
    """The words of the `first` chunks, and of the others, at most so many at once. Together they are those of all."""
    begin, end = 0, first
    while not begin or begin < len(words.starts):
        own = slice(begin, end)
        yield msgspec.structs.replace(
            words,
            starts=words.starts[own],
            stops=words.stops[own],
            chunks=words.chunks[own],
            configs=words.configs[own],
            terms=words.terms[own],
            bodies=words.bodies and words.bodies[own],
            first=begin,
            before=words.chunks[begin - 1][-_BEFORE_CHARS:] if begin else None,
        )
        begin, end = end, end + most


def text_of(row: Any) -> str:
    """The text of a chunk that a search found. Rows of the release before have none of their own."""
    text: str = row["content"][row["start"] : row["stop"]] if row["body"] is None else row["body"]
    return text
