"""The MCP reference memory server: one JSON object a line, an entity with its observations or a relation."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from scrubjay.importing import fields as f
from scrubjay.importing.fields import Fields
from scrubjay.importing.items import Unfit, Write
from scrubjay.importing.json_records import Record
from scrubjay.importing.placing import Placement
from scrubjay.models import AddFactInput, WriteMemoryInput

LISTS = ("entities", "relations")
IS_A = "is a"


def writes(record: Record, placement: Placement, at: datetime) -> Iterator[Write]:
    """`at` is since when what it says holds, because it has no times."""
    fields = f.fields_of(record.value)
    kind = {"entities": "entity", "relations": "relation"}.get(record.list, fields.get("type"))
    if kind == "entity":
        yield from _entity(fields, placement.of(), at)
    elif kind == "relation":
        subject, predicate, value = (f.text(fields, name) for name in ("from", "relationType", "to"))
        yield _fact(subject, predicate, value, placement.of(), at)
    else:
        raise Unfit("is neither an entity nor a relation")


def _entity(fields: Fields, scope: str, at: datetime) -> Iterator[Write]:
    name = f.text(fields, "name")
    kind = f.optional(fields, "entityType")
    if kind is not None:
        yield _fact(name, IS_A, kind, scope, at)
    for observation in f.strings(fields, "observations"):
        if not observation.strip():
            raise Unfit("has an empty observation")
        yield WriteMemoryInput(
            kind="knowledge",
            # An observation names its entity only by standing under it.
            content=f"{name}: {observation}",
            scope=scope,
            topics=f.topics([name], [kind or ""]),
            origin=f.origin("mcp-memory", name, f.digest(observation)),
            source_kind="imported",
        )


def _fact(subject: str, predicate: str, value: str, scope: str, at: datetime) -> AddFactInput:
    return AddFactInput(
        subject=subject,
        predicate=predicate,
        object=value,
        scope=scope,
        valid_from=at,
        source_kind="imported",
    )
