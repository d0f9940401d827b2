"""LangGraph's store: items as JSON Lines or a list, or rows of the table `store`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from scrubjay.importing import fields as f
from scrubjay.importing.fields import Fields
from scrubjay.importing.items import Unfit, Write
from scrubjay.importing.json_records import Record
from scrubjay.importing.placing import Placement
from scrubjay.models import WriteMemoryInput

LISTS = ("items",)
_TEXTS = ("content", "text", "memory", "data", "fact", "summary")


def writes(record: Record, placement: Placement) -> Iterator[Write]:
    fields = f.fields_of(record.value)
    namespace = _namespace(fields)
    key = f.text(fields, "key")
    created, updated = f.time(fields, "created_at"), f.time(fields, "updated_at")
    content, further = _content(f.fields_of(fields.get("value")))
    scope = placement.of({str(place): part for place, part in enumerate(namespace)})
    yield WriteMemoryInput(
        kind="knowledge",
        content=content,
        scope=scope,
        occurred_at=f.past(updated, created),
        topics=f.topics(namespace, f.named(further), f.changed_since(created, updated)),
        origin=f.origin("langgraph", *namespace, key),
        source_kind="imported",
    )


def _namespace(fields: Fields) -> Sequence[str]:
    """The table holds the parts of a namespace as one text, with dots between them."""
    if "namespace" in fields:
        return f.strings(fields, "namespace")
    return f.text(fields, "prefix").split(".")


def _content(value: Fields) -> tuple[str, Fields]:
    """The value's text and its further fields; of a value without one, its JSON."""
    for name in _TEXTS:
        held: Any = value.get(name)
        further = {key: each for key, each in value.items() if key != name}
        if isinstance(held, str) and held.strip():
            return held, further
        # LangMem wraps the text once more.
        if isinstance(held, dict) and isinstance(held.get("content"), str):
            return f.text(held, "content"), further
    if not value:
        raise Unfit("has an empty value")
    return json.dumps(value, ensure_ascii=False), {}
