"""The words by which search finds an object. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from shared.provenance import head
from shared.search import code
from shared.search.lexicon import Hints, IndexedText, indexed
from shared.text import Language


class ObjectWords(IndexedText, frozen=True, kw_only=True):
    """The arguments of `cache.chunk_words`: of the text of a part, and what else a question may name it by."""

    head: str


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
) -> ObjectWords:
    """`likely` is its language, if the text does not tell it."""
    names = [] if source_key is None else [source_key]
    found = indexed(text, Hints(code.given(names), likely=likely))
    said = head(source_tool, None, object_type.replace("_", " "), *tags, *map(code.spaced, names))
    return ObjectWords(
        starts=found.starts,
        stops=found.stops,
        chunks=found.chunks,
        configs=found.configs,
        terms=found.terms,
        head=said,
    )
