"""When the values of one subject and predicate hold, and what a statement changes of it. Pure.

A statement takes its time from the values that contradict it, if its writer may end them. Who is not trusted ends
nothing that a trusted source stated. A key of one agent ends nothing of other agents. A key of some missions or users
ends nothing that other keys stated elsewhere. Beside what it may not end, a statement stands as disputed. The same
value makes it needless, whoever stated it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import NamedTuple

END = datetime.max.replace(tzinfo=UTC)
"""The end of what is open."""


class Span(NamedTuple):
    """From `start` up to, but without, `stop`."""

    start: datetime
    stop: datetime = END

    def covers(self, other: Span) -> bool:
        return self.start <= other.start and other.stop <= self.stop

    def overlaps(self, other: Span) -> bool:
        return self.start < other.stop and other.start < self.stop

    def touches(self, other: Span) -> bool:
        return self.start <= other.stop and other.start <= self.stop

    def without(self, other: Span) -> list[Span]:
        """What is left, in order."""
        if not self.overlaps(other):
            return [self]
        parts = (Span(self.start, other.start), Span(other.stop, self.stop))
        return [part for part in parts if part.start < part.stop]


@dataclass(eq=False)
class Held:
    """A value that is believed now, during one span. Without an id, it is about to be recorded."""

    value: str
    trusted: bool
    span: Span
    agent: str | None = None
    key: str | None = None
    """The API key that stated it."""
    id: int | None = None
    copy_of: int | None = None
    """The row whose provenance it has, when a statement splits one."""
    statement: int | None = None
    """Which statement of the request it is."""


class Writer(NamedTuple):
    trusted: bool
    agent: str | None = None
    """The only agent whose values it may end."""
    key: str | None = None
    """The only API key whose values it may end."""

    def may_end(self, held: Held) -> bool:
        own = self.agent in (None, held.agent) and self.key in (None, held.key)
        return own and (self.trusted or not held.trusted)


class Stated(NamedTuple):
    value: str
    writer: Writer
    agent: str | None
    span: Span
    only: bool
    """Whether the predicate has one value at a time."""
    place: int = 0
    """Which statement of the request it is."""


class Outcome(NamedTuple):
    added: list[Held]
    holding: Held | None
    """The value that makes the statement needless."""
    disputes: list[Held]
    """The values beside which it stands, because its writer may not end them."""


def state(held: list[Held], stated: Stated) -> Outcome:
    """Changes `held` to what is believed after the statement."""
    span = _until_the_next(held, stated) if stated.only else stated.span
    disputes = []
    if stated.only:
        others = [each for each in held if each.value != stated.value and each.span.overlaps(span)]
        disputes = [each for each in others if not stated.writer.may_end(each)]
        clear(held, [each for each in others if stated.writer.may_end(each)], span)
    same = [each for each in held if each.value == stated.value]
    own = [each for each in same if stated.writer.may_end(each)]
    clear(held, [each for each in own if each.trusted != stated.writer.trusted], span)
    left = [span]
    for firm in (each for each in same if each not in own):
        left = [part for piece in left for part in piece.without(firm.span)]
    layer = [each for each in own if each.trusted == stated.writer.trusted]
    added = [new for part in left if (new := _joined(held, layer, part, stated)) is not None]
    holding = next((each for each in same if each.span.overlaps(span)), None) if not added else None
    return Outcome(added, holding, disputes)


def close(held: list[Held], chosen: Iterable[Held], at: datetime, writer: Writer) -> list[Held]:
    """Ends the chosen values at `at`. Returns those that the writer may not end."""
    open_then = [each for each in chosen if each.span.stop > at]
    clear(held, [each for each in open_then if writer.may_end(each)], Span(at))
    return [each for each in open_then if not writer.may_end(each)]


def joined(spans: Iterable[Span]) -> list[Span]:
    """The same time in as few spans as possible, in order."""
    runs: list[Span] = []
    for span in sorted(spans):
        if runs and runs[-1].touches(span):
            runs[-1] = Span(runs[-1].start, max(runs[-1].stop, span.stop))
        else:
            runs.append(span)
    return runs


def _until_the_next(held: Sequence[Held], stated: Stated) -> Span:
    """An open value ends where the next one begins: a statement about the past leaves what came later."""
    start, stop = stated.span
    if stop < END:
        return stated.span
    return Span(start, min((begin for begin in _beginnings(held, stated) if begin > start), default=END))


def _beginnings(held: Sequence[Held], stated: Stated) -> Iterator[datetime]:
    values: dict[str, list[Span]] = {}
    for each in held:
        if each.value != stated.value and stated.writer.may_end(each):
            values.setdefault(each.value, []).append(each.span)
    for spans in values.values():
        yield from (run.start for run in joined(spans))


def clear(held: list[Held], some: Iterable[Held], span: Span) -> None:
    """Takes the span from these values. The first part that is left of a value stays its row."""
    for each in some:
        parts = each.span.without(span)
        if not parts:
            held.remove(each)
            continue
        each.span = parts[0]
        held += [replace(each, span=part, id=None, copy_of=each.id or each.copy_of) for part in parts[1:]]


def _joined(held: list[Held], layer: list[Held], span: Span, stated: Stated) -> Held | None:
    """Records the value for the span, together with what touches it. None if it is known already."""
    touching = [each for each in layer if each.span.touches(span) and each in held]
    if any(each.span.covers(span) for each in touching):
        return None
    for each in touching:
        held.remove(each)
    whole = joined([span, *(each.span for each in touching)])[0]
    new = Held(
        stated.value, stated.writer.trusted, whole, stated.agent, stated.writer.key, statement=stated.place
    )
    held.append(new)
    layer.append(new)
    return new
