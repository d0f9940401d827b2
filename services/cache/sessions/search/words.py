"""The words by which search finds an object. Pure."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from uuid import UUID

from shared.provenance import head
from shared.search import code
from shared.search.lexicon import Hints, IndexedText, indexed
from shared.text import Language


class ObjectWords(IndexedText, frozen=True, kw_only=True):
    """The arguments of `cache.chunk_words`: of the text of a part, and what else a question may name it by."""

    head: str


# Lines of a text that are kept for a later comparison: those with the least hashes, so that two texts keep the same.
_MOST_LINES = 128


def lines_of(text: str) -> list[str]:
    """Hashes of its distinct lines, the least first. Spaces around a line make no difference."""
    lines = {stripped for line in text.splitlines() if any(map(str.isalnum, stripped := line.strip()))}
    return sorted(hashlib.blake2b(line.encode(), digest_size=6).hexdigest() for line in lines)[:_MOST_LINES]


class IndexedObject(ObjectWords, frozen=True, kw_only=True):
    id: UUID


def words_of(
    text: str,
    object_type: str,
    *,
    source_tool: str | None,
    source_key: str | None,
    tags: Sequence[str],
    likely: Language,
    lines: Sequence[str],
) -> ObjectWords:
    """`likely` is its language, if the text does not tell it. Its first chunk is found by its `lines`, too."""
    names = [] if source_key is None else [source_key]
    found = indexed(text, Hints(code.given(names), likely=likely))
    said = head(source_tool, None, object_type.replace("_", " "), *tags, *map(code.spaced, names))
    return ObjectWords(
        starts=found.starts,
        stops=found.stops,
        chunks=found.chunks,
        configs=found.configs,
        terms=[" ".join([found.terms[0], *(f"'={line}'" for line in lines)]), *found.terms[1:]],
        head=said,
    )
