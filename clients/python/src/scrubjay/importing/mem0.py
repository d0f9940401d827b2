"""mem0: `get_all()` of the library, or a page or an export of the platform."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime

from scrubjay.importing import fields as f
from scrubjay.importing.fields import Fields
from scrubjay.importing.items import Dropped, Unfit, Write
from scrubjay.importing.json_records import Record
from scrubjay.importing.placing import Placement
from scrubjay.models import AddFactInput, WriteMemoryInput

LISTS = ("results", "relations", "memories")


def writes(record: Record, placement: Placement, at: datetime) -> Iterator[Write]:
    """`at` is since when relations hold, which have no times."""
    fields = f.fields_of(record.value)
    if record.list == "relations" or "relationship" in fields:
        yield _relation(fields, placement, at)
    else:
        yield _memory(fields, placement)


def _memory(fields: Fields, placement: Placement) -> WriteMemoryInput:
    expires = _expires(fields)
    created, updated = f.time(fields, "created_at"), f.time(fields, "updated_at")
    user, agent = f.optional(fields, "user_id"), f.optional(fields, "agent_id")
    metadata = f.fields_of(fields.get("metadata") or {})
    categories = f.strings(fields, "categories")
    preference = any(each.endswith(("preference", "preferences")) for each in categories)
    return WriteMemoryInput(
        kind="preference" if preference else "knowledge",
        content=f.text(fields, "memory", "data"),
        scope=_scope(user, agent, placement),
        agent_name=agent,
        user_id=user,
        session_id=f.optional(fields, "run_id"),
        speaker=f.optional(fields, "actor_id"),
        occurred_at=f.past(updated, created),
        topics=f.topics(categories, f.named(metadata), expires, f.changed_since(created, updated)),
        origin=f.origin("mem0", f.text(fields, "id")),
        source_kind="imported",
    )


def _scope(user: str | None, agent: str | None, placement: Placement) -> str:
    if user is not None:
        return f"user:{user}"
    return placement.of() if agent is None else f"agent:{agent}"


def _expires(fields: Fields) -> list[str]:
    """A topic that keeps the day after which the memory no longer holds. Raises Dropped after it."""
    value = f.optional(fields, "expiration_date")
    if value is None:
        return []
    try:
        day = date.fromisoformat(value[:10])
    except ValueError:
        raise Unfit(f"expiration_date is not a date: {value[:40]!r}") from None
    if day < datetime.now(UTC).date():
        raise Dropped(f"expired on {day}")
    return [f"expires: {day}"]


def _relation(fields: Fields, placement: Placement, at: datetime) -> AddFactInput:
    return AddFactInput(
        subject=f.text(fields, "source"),
        predicate=f.text(fields, "relationship"),
        object=f.text(fields, "target", "destination"),
        scope=placement.of(),
        valid_from=at,
        source_kind="imported",
    )
