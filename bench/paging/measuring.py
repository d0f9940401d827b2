"""What one session tells: what was resident when it was read again, how the context grew, what a cache could keep."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from bench.paging.events import Event, is_read, turns
from bench.paging.lru import WholeObjects
from bench.paging.paged import PagedSession
from services.cache.sessions.paging.batches import Policy
from services.cache.sessions.paging.fidelity import Level
from shared.tokens import estimate_tokens


class Figures(msgspec.Struct):
    """Sums over sessions. What is resident is in characters, all else in tokens."""

    again: int = 0
    """What was read again."""
    resident_l0: int = 0
    resident_l0_l1: int = 0
    lru: int = 0
    sent_before: int = 0
    """What a turn could find in a prompt cache: all that the turn before sent."""
    unchanged: int = 0
    """What of it the turn sends again, up to the first difference."""
    context: int = 0
    """The context at the end."""
    unpaged: int = 0
    """What it would be without paging."""
    sessions: int = 0
    turns: int = 0
    batches: int = 0
    faults: int = 0
    transitions: int = 0


class Sample(msgspec.Struct):
    """The context after a turn."""

    levels: Sequence[int]
    """Tokens at each level."""
    faults: int


Sent = Sequence[tuple[str, Level, int]]


def measure(
    events: Sequence[Event],
    budget: int,
    figures: Figures,
    policy: Policy = Policy(),  # noqa: B008
) -> list[Sample]:
    """Adds the figures of a session, and returns its turns."""
    session, whole = PagedSession(budget, policy), WholeObjects(budget)
    samples: list[Sample] = []
    seen: set[str | None] = set()
    before: Sent = []
    for turn in turns(events):
        faults = session.faults
        for event in turn:
            _read(event, event.key in seen, session, whole, figures)
            seen.update([event.key] if is_read(event) else [])
        session.end_turn()
        # What the model answers to next: what the tools of this turn returned was not sent before.
        now = session.prompt()
        figures.unchanged += _common(before, now)
        figures.sent_before += sum(tokens for *_, tokens in before)
        before = now
        samples.append(Sample(_by_level(session), session.faults - faults))
    figures.sessions += 1
    figures.turns += len(samples)
    figures.batches += session.batches
    figures.faults += session.faults
    figures.transitions += session.moves + session.faults
    figures.context += session.tokens()
    return samples


def _read(event: Event, again: bool, session: PagedSession, whole: WholeObjects, figures: Figures) -> None:
    if again and is_read(event):
        full, detailed = session.resident(event)
        figures.again += len(event.text)
        figures.resident_l0 += full
        figures.resident_l0_l1 += detailed
        figures.lru += whole.resident(event)
    figures.unpaged += estimate_tokens(event.text)
    session.admit(event)
    whole.admit(event)


def _common(before: Sent, now: Sent) -> int:
    """Tokens at the start of both."""
    same = 0
    for left, right in zip(before, now, strict=False):
        if left != right:
            break
        same += left[2]
    return same


def _by_level(session: PagedSession) -> list[int]:
    return [
        sum(each.sizes.at(level) for each in session.objects.values() if each.level == level)
        for level in (Level.FULL, Level.DETAILED, Level.COMPACT, Level.STUB)
    ]
