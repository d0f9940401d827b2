"""Events of one tenant: written by transactions that overlap, numbered by two replicas, read by one reader.

The names of steps: `insert 0`, `commit 0`, `roll 0` (back) of a writer; `number 0`, `end 0` of a replica's transaction;
`read`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

WRITERS, REPLICAS = 3, 2
_EACH = (2, 1, 1)


class Event(NamedTuple):
    id: int
    writer: int
    committed: bool = False
    seq: int = 0


class State(NamedTuple):
    ids: int = 0
    events: tuple[Event, ...] = ()
    done: tuple[int, ...] = (0,) * WRITERS
    """How many transactions each writer has ended."""
    open: tuple[bool, ...] = (False,) * WRITERS
    last: int = 0
    """The tenant's counter, as committed."""
    given: tuple[tuple[tuple[int, int], ...] | None, ...] = (None,) * REPLICAS
    """The numbers of ids that a replica has given and not committed."""
    seen: tuple[int, ...] = ()
    """The ids that the reader had, in order."""
    cursor: int = 0


class Numbered:
    """The model; its mutants are below."""

    locks = True

    def start(self) -> State:
        return State()

    def place(self, event: Event) -> int:
        """What the reader goes by; 0 where it does not see the event."""
        return event.seq

    def steps(self, state: State) -> Iterator[tuple[str, State]]:
        for writer in range(WRITERS):
            if state.open[writer]:
                yield f"commit {writer}", self._commit(state, writer)
                yield f"roll {writer}", self._roll(state, writer)
            elif state.done[writer] < _EACH[writer]:
                yield f"insert {writer}", self._insert(state, writer)
        for replica in range(REPLICAS):
            if state.given[replica] is not None:
                yield f"end {replica}", self._end(state, replica)
            elif fresh := self._unnumbered(state):
                yield f"number {replica}", self._number(state, replica, fresh)
        if any(event.committed and self.place(event) > state.cursor for event in state.events):
            yield "read", self._read(state)

    def faults(self, state: State) -> Iterator[str]:
        numbers = [event.seq for event in state.events if event.seq]
        if len(set(numbers)) < len(numbers):
            yield "two events have one number"
        if len(set(state.seen)) < len(state.seen):
            yield "an event was read twice"
        for writer in range(WRITERS):
            own = [id_ for id_ in state.seen if any(e.id == id_ and e.writer == writer for e in state.events)]
            if own != sorted(own):
                yield "a writer's events are out of order"

    def unfinished(self, state: State) -> Iterator[str]:
        if {event.id for event in state.events} - set(state.seen):
            yield "an event was missed"

    def _insert(self, state: State, writer: int) -> State:
        event = Event(state.ids + 1, writer)
        return state._replace(
            ids=event.id, events=(*state.events, event), open=_with(state.open, writer, True)
        )

    def _commit(self, state: State, writer: int) -> State:
        events = tuple(e._replace(committed=True) if e.writer == writer else e for e in state.events)
        return self._over(state._replace(events=events), writer)

    def _roll(self, state: State, writer: int) -> State:
        events = tuple(e for e in state.events if e.writer != writer or e.committed)
        return self._over(state._replace(events=events), writer)

    def _over(self, state: State, writer: int) -> State:
        done = _with(state.done, writer, state.done[writer] + 1)
        return state._replace(done=done, open=_with(state.open, writer, False))

    def _unnumbered(self, state: State) -> list[Event]:
        if self.locks and any(given is not None for given in state.given):
            return []
        return [event for event in state.events if event.committed and not event.seq]

    def _number(self, state: State, replica: int, fresh: list[Event]) -> State:
        given = tuple((event.id, state.last + place) for place, event in enumerate(fresh, 1))
        return state._replace(given=_with(state.given, replica, given))

    def _end(self, state: State, replica: int) -> State:
        given = dict(state.given[replica] or ())
        events = tuple(e._replace(seq=given[e.id]) if e.id in given else e for e in state.events)
        last = max((*given.values(), state.last))
        return state._replace(events=events, last=last, given=_with(state.given, replica, None))

    def _read(self, state: State) -> State:
        found = [e for e in state.events if e.committed and self.place(e) > state.cursor]
        found.sort(key=self.place)
        return state._replace(
            seen=(*state.seen, *(event.id for event in found)), cursor=self.place(found[-1])
        )


class ById(Numbered):
    """The reader goes by ids."""

    def place(self, event: Event) -> int:
        return event.id


class Together(Numbered):
    """Two replicas number one tenant's events at a time."""

    locks = False


MODEL = Numbered
MUTANTS = (ById, Together)


def _with(values: tuple, place: int, value: object) -> tuple:  # type: ignore[type-arg]
    return (*values[:place], value, *values[place + 1 :])
