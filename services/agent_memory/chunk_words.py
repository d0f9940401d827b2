"""The words of an item's chunks, as SQL takes them."""

from __future__ import annotations

from typing import Any

from shared.search.lexicon import IndexedText

# The columns of a search from which `text_of` reads a chunk's text, where chunks are `c` and items `i`.
TEXT_COLUMNS = "c.body, case when c.body is null then i.content end as content"


class ChunkWords(IndexedText, frozen=True, kw_only=True):
    """The arguments of `memory.chunk_words`: besides those of the text, the words before it."""

    head: str
    bodies: list[str] | None
    """The chunks' own texts, as `bodies_of` cuts them."""


def bodies_of(text: str, words: IndexedText) -> list[str] | None:
    """None: the text is one chunk. Each of several has its own text, or a search would read the item's for each."""
    if len(words.starts) == 1:
        return None
    return [text[start:stop] for start, stop in zip(words.starts, words.stops, strict=True)]


def text_of(row: Any) -> str:
    """The text of a chunk that a search found. Rows of the release before have none of their own."""
    text: str = row["content"][row["start"] : row["stop"]] if row["body"] is None else row["body"]
    return text
