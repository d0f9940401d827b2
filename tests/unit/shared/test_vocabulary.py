from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest
from msgspec import field

from shared.body import Body, decode
from shared.errors import FieldError, Invalid
from shared.text import BigId, Name
from shared.vocabulary import in_query, shorts


class Task(Body, kw_only=True):
    mission_namespace: Name | None = None


class Memory(Body, kw_only=True):
    agent_name: Name
    task: Task | None = None
    dispatch_id: BigId | None = None
    ids: list[BigId] = field(default_factory=list)
    word: str = ""


class Batch(Body, kw_only=True):
    memories: list[Memory]


class Note(Body, tag="note", tag_field="kind", kw_only=True):
    mission_id: Name


class Order(Body, tag="order", tag_field="kind", kw_only=True):
    mission_id: Name
    report_id: BigId


MEMORY = msgspec.json.Decoder(Memory)
BATCH = msgspec.json.Decoder(Batch)
ENTRY: msgspec.json.Decoder[Any] = msgspec.json.Decoder(Note | Order)


def read(body: Any, decoder: msgspec.json.Decoder[Any] = MEMORY) -> Any:
    return decode(json.dumps(body).encode(), decoder)


def refused(body: Any, decoder: msgspec.json.Decoder[Any] = MEMORY) -> list[FieldError]:
    with pytest.raises(Invalid) as caught:
        read(body, decoder)
    assert caught.value.errors
    return caught.value.errors


def test_short_names_are_taken_in_bodies_in_what_they_hold_and_in_batches() -> None:
    wanted = Memory(agent_name="ana", task=Task(mission_namespace="m"))
    assert read({"agent": "ana", "task": {"mission": "m"}}) == wanted
    both = {"agent": "ana", "agent_name": "ana", "task": {"mission_namespace": "m", "mission": None}}
    assert read(both) == wanted
    assert read({"memories": [both, {"agent": "eve"}]}, BATCH) == Batch(
        memories=[wanted, Memory(agent_name="eve")]
    )
    assert read({"kind": "order", "mission": "m", "report_id": "7"}, ENTRY) == Order(
        mission_id="m", report_id=7
    )


def test_two_names_that_differ_are_refused_by_both_names() -> None:
    errors = refused(
        {"memories": [{"agent_name": "ana", "task": {"mission": "a", "mission_namespace": "b"}}]}, BATCH
    )
    assert {error["field"] for error in errors} == {
        "memories[0].task.mission",
        "memories[0].task.mission_namespace",
    }


def test_ids_are_numbers_or_strings_of_digits() -> None:
    assert read({"agent_name": "ana", "dispatch_id": "12", "ids": ["1", 2]}) == Memory(
        agent_name="ana", dispatch_id=12, ids=[1, 2]
    )
    assert read({"agent": "12", "word": "12"}) == Memory(agent_name="12", word="12")
    for wrong in ("", "x", "-1", "0", "1.0", "9" * 19, "9" * 40, "٣"):
        assert [e["field"] for e in refused({"agent_name": "ana", "dispatch_id": wrong})] == ["dispatch_id"]


def test_a_refusal_names_the_field_as_it_was_given() -> None:
    assert refused({"memories": [{"agent": 5}]}, BATCH)[0]["field"] == "memories[0].agent"
    assert refused({"agent": "ana", "task": {"mission": ""}})[0]["field"] == "task.mission"
    assert refused({"agent": "ana", "dispatch_id": 10**30})[0]["field"] in ("dispatch_id", "body")


def test_a_short_name_is_no_other_fields_name() -> None:
    assert shorts({"agent", "agent_name"}) == {}
    assert refused({"kind": "note", "agent": "x", "mission_id": "m"}, ENTRY)[0]["field"] == "agent"


def test_short_names_are_taken_in_a_query_string() -> None:
    names = {"caller", "limit"}
    assert in_query(b"agent=a%20b&limit=2&mission=m", names) == b"caller=a+b&limit=2&mission=m"
    assert in_query(b"caller=a&agent=a", names) == b"caller=a"
    assert in_query(b"mission=m", {"mission"}) == b"mission=m"
    with pytest.raises(Invalid) as caught:
        in_query(b"caller=a&agent=b", names)
    assert {error["field"] for error in caught.value.errors or ()} == {"caller", "agent"}
