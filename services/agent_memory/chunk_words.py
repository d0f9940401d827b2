"""The words of an item's chunks, as SQL takes them."""

from __future__ import annotations

from shared.search.lexicon import IndexedText


class ChunkWords(IndexedText, frozen=True, kw_only=True):
    """The arguments of `memory.chunk_words`: besides those of the text, the words before it."""

    head: str
