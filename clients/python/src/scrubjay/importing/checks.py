"""The API's limits: what is too long is split where it may be, and refused otherwise. Pure."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from scrubjay.importing.items import File, Unfit, Write
from scrubjay.importing.placing import scope_problem
from scrubjay.models import WriteMemoryInput

LONGEST = 150_000
"""Characters of one text. Escaped in JSON, a character has up to 12 bytes, and a request up to 2 MiB."""
MOST_PIECES = 100
_LONGEST_FIELDS = {
    "scope": 250,
    "user_id": 200,
    "agent_name": 200,
    "session_id": 200,
    "speaker": 200,
    "subject": 300,
    "predicate": 200,
    "object": 4_000,
}
# Where a text is cut, the best place first.
_CUTS = ("\n\n", "\n", ". ", " ")


def checked(write: Write) -> Iterator[Write]:
    """The write, in several parts if its text is too long. Raises Unfit."""
    if isinstance(write, File):
        _check_text("text", write.text)
        yield write
        return
    for field in dataclasses.fields(write):
        _check(field.name, getattr(write, field.name))
    if isinstance(write, WriteMemoryInput):
        yield from _parts(write)
    else:
        yield write


def _check(name: str, value: Any) -> None:
    if isinstance(value, list):
        for each in value:
            _check(name, each)
    elif isinstance(value, str):
        _check_text(name, value)
        if name == "scope" and (problem := scope_problem(value)):
            raise Unfit(problem)


def _check_text(name: str, value: str) -> None:
    if "\0" in value or not is_storable(value):
        raise Unfit(f"{name} holds a NUL or what is no character")
    limit = _LONGEST_FIELDS.get(name)
    if limit is not None and len(value) > limit:
        raise Unfit(f"{name} has {len(value):,} characters, and at most {limit:,} may be")


def is_storable(value: str) -> bool:
    """False for halves of characters, and for bytes that are no UTF-8."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True


def _parts(memory: WriteMemoryInput) -> Iterator[WriteMemoryInput]:
    for place, part in enumerate(split(memory.content)):
        origin = memory.origin if place == 0 or memory.origin is None else f"{memory.origin}#{place + 1}"
        yield dataclasses.replace(memory, content=part, origin=origin)


def split(text: str) -> Iterator[str]:
    """Parts of at most LONGEST characters, which joined are the text."""
    start = 0
    while len(text) - start > LONGEST:
        stop = _cut(text, start, start + LONGEST)
        yield text[start:stop]
        start = stop
    yield text[start:]


def _cut(text: str, start: int, stop: int) -> int:
    """Behind the last end of a paragraph, a line, a sentence or a word in the second half."""
    middle = (start + stop) // 2
    for mark in _CUTS:
        found = text.rfind(mark, middle, stop)
        if found >= 0:
            return found + len(mark)
    return stop
