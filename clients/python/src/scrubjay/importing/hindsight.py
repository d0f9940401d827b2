"""Hindsight: answers of its list of memories, or the archive that its document transfer exports."""

from __future__ import annotations

from collections.abc import Iterator

from scrubjay.importing import fields as f
from scrubjay.importing.fields import Fields
from scrubjay.importing.items import Dropped, Write
from scrubjay.importing.json_records import Record
from scrubjay.importing.placing import Placement
from scrubjay.models import WriteMemoryInput

LISTS = ("items", "facts")
_USER_TAG = "user:"


def members(name: str) -> bool:
    """Whether a file of the archive holds memories."""
    return name == "observations.json" or (name.startswith("documents/") and name.endswith(".json"))


def writes(record: Record, placement: Placement) -> Iterator[Write]:
    fields = f.fields_of(record.value)
    if f.optional(fields, "state") == "invalidated":
        raise Dropped("is invalidated")
    if "facts" in fields and "original_text" in fields:
        raise Dropped("is a document without facts")
    tags = f.strings(fields, "tags")
    kind = f.optional(fields, "fact_type")
    began = f.time(fields, "occurred_start", "date", "event_date")
    learned = f.time(fields, "mentioned_at", "created_at")
    ident = f.optional(fields, "id") or f.optional(fields, "source_id")
    yield WriteMemoryInput(
        kind="episode" if kind == "experience" else "knowledge",
        content=f.text(fields, "text"),
        scope=_scope(tags, placement),
        occurred_at=f.past(began, learned),
        ended_at=f.time(fields, "occurred_end") if kind == "experience" else None,
        session_id=f.optional(fields, "document_id"),
        topics=f.topics(_entities(fields), tags, _context(fields), f.named(_metadata(fields))),
        origin=None if ident is None else f.origin("hindsight", ident),
        source_kind="imported",
    )


def _scope(tags: list[str], placement: Placement) -> str:
    """A memory with the tag of one user belongs to the user."""
    users = {tag.removeprefix(_USER_TAG) for tag in tags if tag.startswith(_USER_TAG)}
    return f"user:{users.pop()}" if len(users) == 1 else placement.of()


def _entities(fields: Fields) -> list[str]:
    """A list in an archive, one text in an answer."""
    if isinstance(fields.get("entities"), list):
        return f.strings(fields, "entities")
    return (f.optional(fields, "entities") or "").split(",")


def _context(fields: Fields) -> list[str]:
    context = f.optional(fields, "context")
    return [] if context is None else [context]


def _metadata(fields: Fields) -> Fields:
    return f.fields_of(fields.get("metadata") or {})
