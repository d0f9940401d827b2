"""Content as the parts that become objects, each with its line. Summaries follow in the background. Pure."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from services.cache.sessions.objects.schemas import AdmitInput
from services.cache.sessions.paging.admission import Admission, admit
from services.cache.sessions.paging.segmentation import Segment, segment
from services.cache.sessions.paging.summaries import stub
from services.cache.sessions.search.words import ObjectWords, lines_of, words_of
from shared.text import Language
from shared.tokens import estimate_tokens


class Part(NamedTuple):
    segment: Segment
    content_hash: bytes
    tokens: int
    stub: str
    score: Admission
    words: ObjectWords
    lines: list[str]


def parts_of(wanted: AdmitInput, likely: Language, *, parsed: bool = True) -> list[Part]:
    """Together they are the content, byte for byte. Only a file's name says what language it is in.

    `likely` is the language of prose that does not tell its own.
    """
    path = path_of(wanted.object_type, wanted.source_key)
    return [_part(each, wanted, likely) for each in segment(wanted.content, path, parsed=parsed)]


def path_of(object_type: str, source_key: str | None) -> str | None:
    """The name of the file that it is from."""
    return source_key if object_type == "file_context" else None


def _part(each: Segment, wanted: AdmitInput, likely: Language) -> Part:
    tokens, source_key, object_type = estimate_tokens(each.text), wanted.source_key, wanted.object_type
    lines = lines_of(each.text)
    return Part(
        each,
        hashlib.sha256(each.text.encode()).digest(),
        tokens,
        stub(source=source_key, label=each.label, names=each.name, text=each.text, tokens=tokens),
        admit(object_type, each.text, tokens=tokens),
        words_of(
            each.text,
            object_type,
            source_tool=wanted.source_tool,
            source_key=source_key,
            tags=wanted.tags,
            likely=likely,
            lines=lines,
        ),
        lines,
    )
