"""The turns of a session that can teach something, from the events of its trail. Pure.

How events are cut into steps follows from where a step begins, so a run that goes on makes the same steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence, Set
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

import msgspec

from services.context.consolidation.recalled import given, is_own_tool, own, sentences
from shared.provenance import SourceKind

STEP = 100
"""Events of a step, at most."""
OVERLAP = 20
"""Events before a step that are read for what was recalled in them."""
_MOST_CHARACTERS = 300_000
_MOST_OF_A_TURN = 100_000
_MOST_TURNS = 1_000
_KINDS: Mapping[str, SourceKind] = {"user": "user", "assistant": "agent", "tool": "tool"}
RECALLED, INSTRUCTION = "it was recalled", "a system message is an instruction"
TOO_LONG = "the end of a long turn"


class Event(msgspec.Struct):
    """As the cache service answers it."""

    seq: int
    kind: str
    role: str
    content: list[dict[str, Any]]
    created_at: datetime
    occurred_at: datetime | None = None
    written_by: str = ""


class Names(NamedTuple):
    """Who speaks."""

    user: str | None
    agent: str | None
    speaks_for_users: bool
    """Whether the key that runs may say what users said."""
    bound: frozenset[str] = frozenset()
    """The keys of events that may not, since they act for an agent."""


class Step(NamedTuple):
    turns: list[dict[str, Any]]
    skipped: dict[str, int]
    until: int


class _Text(NamedTuple):
    seq: int
    role: str
    text: str
    at: datetime
    recalled: bool
    """All of it, since a tool of ours answered it."""


def step_of(events: Sequence[Event], after: int, through: int, names: Names) -> Step:
    """The events behind `after`. Those before tell what was recalled. One that comes later tells nothing of it."""
    own_calls = _own_calls(events)
    recalled: set[str] = set()
    turns: list[dict[str, Any]] = []
    skipped: Counter[str] = Counter()
    size, until = 0, after
    for event in [event for event in events if event.seq <= min(through, after + STEP)]:
        texts = [*_of_event(event, own_calls)]
        recalled |= sentences(part for each in texts for part in _recalled(each))
        if event.seq <= after:
            continue
        said, left_out = _learnable(texts, recalled, names, event.written_by)
        size += sum(len(turn["text"]) for turn in said)
        if turns and (size > _MOST_CHARACTERS or len(turns) + len(said) > _MOST_TURNS):
            break
        turns += said
        skipped += left_out + _instructions(event)
        until = event.seq
    # Without any event there, it goes on behind the gap.
    return Step(turns, dict(skipped), until if until > after else min(through, after + STEP))


def _instructions(event: Event) -> Counter[str]:
    return Counter({INSTRUCTION: 1} if event.kind == "message" and event.role == "system" else {})


def _own_calls(events: Sequence[Event]) -> frozenset[str]:
    """The calls of our own tools."""
    blocks = (block for event in events for block in event.content if block.get("type") == "tool_use")
    return frozenset(block["id"] for block in blocks if is_own_tool(block["name"]))


def _of_event(event: Event, own_calls: frozenset[str]) -> Iterator[_Text]:
    """What the service wrote itself, and what the system said, is no turn."""
    at = event.occurred_at or event.created_at
    if event.kind not in ("message", "tool_call", "tool_result"):
        return
    for block in event.content:
        if block.get("type") == "text" and event.role != "system":
            yield _Text(event.seq, event.role, block["text"], at, recalled=False)
        elif block.get("type") == "tool_result":
            yield _Text(event.seq, "tool", block["content"], at, block["tool_use_id"] in own_calls)


def _recalled(text: _Text) -> Iterator[str]:
    yield from given(text.text)
    if text.recalled:
        yield text.text


def _learnable(
    texts: Sequence[_Text], recalled: Set[str], names: Names, key: str
) -> tuple[list[dict[str, Any]], Counter[str]]:
    """Texts of one speaker that follow each other are one turn."""
    said: list[dict[str, Any]] = []
    skipped: Counter[str] = Counter()
    for role, some in groupby(texts, key=lambda each: each.role):
        kept = []
        for each in some:
            text, left_out = ("", 1) if each.recalled else own(each.text, recalled, repeats=role != "user")
            kept.append(text)
            skipped[RECALLED] += left_out
            at, seq = each.at, each.seq
        whole = "\n".join(kept)
        skipped[TOO_LONG] += len(whole) > _MOST_OF_A_TURN
        if whole.strip():
            said.append(_turn(_Text(seq, role, whole[:_MOST_OF_A_TURN], at, recalled=False), names, key))
    return said, +skipped


def _turn(said: _Text, names: Names, key: str) -> dict[str, Any]:
    authors = {"user": names.user, "assistant": names.agent}
    for_users = names.speaks_for_users and key not in names.bound
    trust = "agent" if said.role == "user" and not for_users else _KINDS[said.role]
    return {
        "position": said.seq,
        "role": said.role,
        "author": authors.get(said.role),
        "text": said.text,
        "at": said.at.isoformat(),
        "trust": trust,
    }
