"""Events of agents' sessions: real ones from files, and longer ones made of them with re-reads."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from shared.tokens import estimate_tokens

# The share of turns that read a file again, and how many lines of it.
_AGAIN = 0.65
_LINES = (20, 400)
_LONGEST_KEY = 1_000


class Event(msgspec.Struct):
    """One line of a transcript."""

    kind: str
    """user, assistant, tool_call, tool_result"""
    text: str
    tool: str | None = None
    key: str | None = None
    """The file that was read or the command that was run, as far as a source may be named."""

    def __post_init__(self) -> None:
        self.key = (self.key or "")[:_LONGEST_KEY] or None


def read(path: Path) -> list[Event]:
    lines = path.read_bytes().splitlines()
    return [msgspec.json.decode(line, type=Event) for line in lines if line.strip()]


def turns(events: Sequence[Event]) -> Iterator[list[Event]]:
    """A turn is one answer of the model: what it says and calls, and what the calls return."""
    turn: list[Event] = []
    for event in events:
        if turn and event.kind != "tool_result" and turn[-1].kind in ("tool_result", "user"):
            yield turn
            turn = []
        turn.append(event)
    if turn:
        yield turn


def prolonged(sessions: Sequence[Sequence[Event]], seed: int, tokens: int = 150_000) -> list[Event]:
    """A session of at least so many tokens: turns of the real ones in their order, and files read again in between.

    As in the real sessions, a file is read again in part, and mostly one of the last few files: how many other files
    were read since, and how many lines are read, are log-uniform.
    """
    chance = random.Random(seed)
    pool = [turn for session in chance.sample(list(sessions), len(sessions)) for turn in turns(session)]
    made: list[Event] = []
    recent: list[Event] = []
    taken = 0
    while taken < tokens:
        if len(recent) > 2 and (not pool or chance.random() < _AGAIN):
            event = recent[int(math.exp(chance.uniform(0, math.log(len(recent))))) - 1]
            again = _part(event, chance)
            turn = [Event("tool_call", f'{{"file_path": "{event.key}"}}', event.tool, event.key), again]
        else:
            turn = pool.pop(0)
            event = next((event for event in turn if is_read(event)), turn[0])
        made += turn
        taken += sum(estimate_tokens(event.text) for event in turn)
        if is_read(event):
            recent = [event, *(known for known in recent if known.key != event.key)]
    return made


def _part(event: Event, chance: random.Random) -> Event:
    lines = event.text.splitlines(keepends=True)
    least, most = (min(bound, len(lines)) for bound in _LINES)
    count = int(math.exp(chance.uniform(math.log(least), math.log(most))))
    start = chance.randrange(len(lines) - count + 1)
    return Event(event.kind, "".join(lines[start : start + count]), event.tool, event.key)


def is_read(event: Event) -> bool:
    """Whether the event shows a file."""
    return event.kind == "tool_result" and event.tool in ("Read", "open", "view") and event.key is not None
