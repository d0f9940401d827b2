"""The answer of the helper model, as prompts/v1.schema.json asks for it."""

from __future__ import annotations

from datetime import date
from functools import cache
from importlib import resources
from typing import Annotated, Any

import msgspec
from msgspec import Meta

VERSION = "v1"

_Name = Annotated[str, Meta(min_length=1, max_length=300)]
_Text = Annotated[str, Meta(min_length=1, max_length=2_000)]


class ToldFact(msgspec.Struct, forbid_unknown_fields=True):
    subject: _Name
    predicate: Annotated[str, Meta(min_length=1, max_length=200)]
    object: _Name
    single: bool
    turns: list[int]


class ToldEvent(msgspec.Struct, forbid_unknown_fields=True):
    text: _Text
    date: date
    turns: list[int]


class ToldCommitment(msgspec.Struct, forbid_unknown_fields=True):
    text: _Text
    owed_by: _Name
    owed_to: _Name | None
    due: date
    turns: list[int]


class ToldAlias(msgspec.Struct, forbid_unknown_fields=True):
    alias: _Name
    entity: _Name
    turns: list[int]


class Told(msgspec.Struct, forbid_unknown_fields=True):
    """Items are decoded one by one: a wrong one does not take the others with it."""

    facts: list[msgspec.Raw]
    events: list[msgspec.Raw]
    commitments: list[msgspec.Raw]
    aliases: list[msgspec.Raw]
    topics: list[str]
    summary: str


@cache
def prompt() -> str:
    return _file(f"{VERSION}.md")


@cache
def schema() -> dict[str, Any]:
    found: dict[str, Any] = msgspec.json.decode(_file(f"{VERSION}.schema.json"))
    return found


def _file(name: str) -> str:
    return (resources.files(__package__.rpartition(".")[0]) / "prompts" / name).read_text()
