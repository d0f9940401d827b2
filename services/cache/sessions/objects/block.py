"""The block of a session's context. Pure: the same rows render to the same bytes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from services.cache.sessions.objects.schemas import SessionContext, ShownObject
from shared.render import Fence, render_item
from shared.tokens import estimate_tokens

HANDLE = "object"
_SHORTEST = 3
# An item takes as long as so many characters with brackets, and so many without take as long as one.
_ITEM, _PASSING = 16, 16
# Every header shows the minutes, however old its object is, so that its bytes stay.
_NEVER = datetime.min.replace(tzinfo=UTC)
_NOTES = (("Left out", "losses"), ("Can answer", "can_answer"), ("Fault when", "fault_when"))


def nonce_of(marks: str, texts: Sequence[str]) -> str:
    """The shortest beginning of the session's marks that no text holds: the same for as long as the texts are."""
    # No mark has a line break, so none begins in one text and ends in the next.
    whole = "\n".join(texts)
    return next((marks[:n] for n in range(_SHORTEST, len(marks)) if marks[:n] not in whole), marks)


def context_of(rows: Sequence[Any], marks: str) -> SessionContext:
    """`rows` are what the block shows, in its order."""
    texts = [_text(row) for row in rows]
    nonce = nonce_of(marks, texts)
    fence = Fence(_NEVER, nonce)
    rendered = [_rendered(row, text, fence) for row, text in zip(rows, texts, strict=True)]
    block = "\n".join(rendered)
    return SessionContext(block, nonce, [_shown(row) for row in rows], estimate_tokens(block))


def effort(rows: Sequence[Any]) -> int:
    """The length of a text that takes as long to read. A text without brackets only passes by."""
    lengths = (len(row["content"]) // (1 if "[" in row["content"] else _PASSING) for row in rows)
    return len(rows) * _ITEM + sum(lengths)


def _rendered(row: Any, text: str, fence: Fence) -> str:
    words = row["object_type"], f"L{row['fidelity']}", row["source_key"] or ""
    return render_item(f"{HANDLE}:{row['id']}", row["created_at"], words, text, fence)


def _text(row: Any) -> str:
    """What it says, and of a summary also what it does not say."""
    if row["losses"] is row["can_answer"] is row["fault_when"] is None:
        return str(row["content"])
    notes = [f"({title}: {'; '.join(row[name])})" for title, name in _NOTES if row[name]]
    return "\n".join([row["content"], *notes]) if notes else str(row["content"])


def _shown(row: Any) -> ShownObject:
    return ShownObject(
        id=row["id"],
        object_type=row["object_type"],
        fidelity=row["fidelity"],
        current_fidelity=row["current_fidelity"],
        tokens=row["tokens"],
        pinned=row["pinned"],
        source_key=row["source_key"],
        key_entities=row["key_entities"] or [],
        tags=row["tags"] or [],
    )
