"""Content as the parts that become objects, with their shorter forms. Pure."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from services.cache.sessions.paging.admission import Admission, admit
from services.cache.sessions.paging.segmentation import Segment, segment
from services.cache.sessions.paging.summaries import Summaries, stub, summarize
from shared.tokens import estimate_tokens


class Part(NamedTuple):
    segment: Segment
    content_hash: bytes
    tokens: int
    summaries: Summaries
    stub: str
    score: Admission


def parts_of(content: str, object_type: str, source_key: str | None) -> list[Part]:
    """Together they are the content, byte for byte. Only a file's name says what language it is in."""
    path = source_key if object_type == "file_context" else None
    return [_part(each, object_type, source_key, path) for each in segment(content, path)]


def _part(each: Segment, object_type: str, source_key: str | None, path: str | None) -> Part:
    tokens = estimate_tokens(each.text)
    return Part(
        each,
        hashlib.sha256(each.text.encode()).digest(),
        tokens,
        summarize(each.text, path, each.kind),
        stub(source=source_key, label=each.label, names=each.name, text=each.text, tokens=tokens),
        admit(object_type, each.text, tokens=tokens),
    )
