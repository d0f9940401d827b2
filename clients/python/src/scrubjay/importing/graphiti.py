"""Graphiti and Zep: nodes, edges and episodes, as their models are dumped and their API answers them."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

from scrubjay.importing import fields as f
from scrubjay.importing.checks import is_storable
from scrubjay.importing.fields import Fields
from scrubjay.importing.items import Unfit, Write
from scrubjay.importing.json_records import Record
from scrubjay.importing.placing import Placement
from scrubjay.models import AddFactInput, WriteMemoryInput

LISTS = ("nodes", "edges", "episodes")
_IS_A = "is a"
_PLAIN_LABELS = ("Entity", "Node")


class Names:
    """The names of nodes by their ids, on disk: edges may stand before the nodes that they lead to."""

    def __init__(self) -> None:
        # An empty name stands for a file that SQLite deletes when the connection closes.
        self._table = sqlite3.connect("")
        self._table.execute("create table names (uuid text primary key, name text) without rowid")

    def add(self, record: Record) -> None:
        fields = record.value
        if isinstance(fields, dict) and _kind(record.list, fields) == "nodes":
            pair = fields.get("uuid", fields.get("uuid_")), fields.get("name")
            if all(isinstance(each, str) and is_storable(each) for each in pair):
                self._table.execute("insert or replace into names values (?, ?)", pair)

    def name(self, fields: Fields, end: str) -> str:
        uuid = f.text(fields, end)
        found = self._table.execute("select name from names where uuid = ?", (uuid,)).fetchone()
        if found is None:
            raise Unfit(f"leads to a node that the file does not hold: {uuid[:60]!r}")
        return str(found[0])

    def close(self) -> None:
        self._table.close()


def writes(record: Record, placement: Placement, names: Names) -> Iterator[Write]:
    fields = f.fields_of(record.value)
    group = f.optional(fields, "group_id") or f.optional(fields, "user_id") or ""
    scope = placement.of({"group": group})
    kind = _kind(record.list, fields)
    if kind == "edges":
        yield from _edge(fields, scope, names)
    elif kind == "episodes":
        yield _episode(fields, scope)
    else:
        yield from _node(fields, scope)


def _kind(listed: str, fields: Mapping[str, object]) -> str:
    if listed:
        return listed
    if "source_node_uuid" in fields:
        return "edges"
    return "episodes" if "content" in fields else "nodes"


def _origin(fields: Fields) -> str:
    return f.origin("graphiti", f.text(fields, "uuid", "uuid_"))


def _edge(fields: Fields, scope: str, names: Names) -> Iterator[Write]:
    created = f.time(fields, "created_at")
    begins = f.time(fields, "valid_at") or created
    # An edge may have expired without anybody knowing since when it was wrong.
    ends = f.time(fields, "invalid_at", "expired_at")
    if begins is not None and ends is not None and ends <= begins:
        raise Unfit("ends before it begins")
    subject, value = (names.name(fields, end) for end in ("source_node_uuid", "target_node_uuid"))
    predicate = f.text(fields, "name").replace("_", " ").lower()
    yield _fact(subject, predicate, value, scope, begins, ends)
    ended = ends is not None and ends <= datetime.now(UTC)
    yield WriteMemoryInput(
        kind="episode" if ended else "knowledge",
        content=f.optional(fields, "fact") or f"{subject} {predicate} {value}",
        scope=scope,
        occurred_at=f.past(begins, created),
        ended_at=ends if ended else None,
        topics=f.topics([subject, value]),
        origin=_origin(fields),
        source_kind="imported",
    )


def _node(fields: Fields, scope: str) -> Iterator[Write]:
    name, created = f.text(fields, "name"), f.time(fields, "created_at")
    labels = [label for label in f.strings(fields, "labels") if label not in _PLAIN_LABELS]
    for label in labels:
        yield _fact(name, _IS_A, label, scope, created)
    for attribute, value in f.scalars(f.fields_of(fields.get("attributes") or {})):
        yield _fact(name, attribute, value, scope, created)
    summary = f.optional(fields, "summary")
    if summary is not None and summary.strip():
        yield WriteMemoryInput(
            kind="knowledge",
            content=f"{name}: {summary}",
            scope=scope,
            occurred_at=f.past(created),
            topics=f.topics([name], labels),
            origin=_origin(fields),
            source_kind="imported",
        )


def _episode(fields: Fields, scope: str) -> WriteMemoryInput:
    source = f.optional(fields, "source_description")
    return WriteMemoryInput(
        kind="episode",
        content=f.text(fields, "content"),
        scope=scope,
        occurred_at=f.past(f.time(fields, "valid_at", "created_at"), f.time(fields, "created_at")),
        session_id=f.optional(fields, "thread_id") or f.optional(fields, "session_id"),
        speaker=f.optional(fields, "role"),
        topics=f.topics([source or ""]),
        origin=_origin(fields),
        source_kind="imported",
    )


def _fact(
    subject: str,
    predicate: str,
    value: str,
    scope: str,
    begins: datetime | None,
    ends: datetime | None = None,
) -> AddFactInput:
    return AddFactInput(
        subject=subject,
        predicate=predicate,
        object=value,
        scope=scope,
        valid_from=begins,
        valid_to=ends,
        source_kind="imported",
    )
