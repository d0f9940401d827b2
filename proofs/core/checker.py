"""Looks at every state that a model can reach, breadth first, so that the first way to a fault is a shortest one."""

from __future__ import annotations

import random
from collections import defaultdict, deque
from collections.abc import Hashable, Iterable, Iterator
from typing import Generic, NamedTuple, Protocol, TypeVar

S = TypeVar("S", bound=Hashable)
# A model that has more is wrong itself.
MOST_STATES = 1_000_000


class Model(Protocol[S]):
    """`steps` answers what each actor may do next, by name, and the state after it."""

    def start(self) -> S: ...

    def steps(self, state: S) -> Iterable[tuple[str, S]]: ...

    def faults(self, state: S) -> Iterator[str]:
        """What is wrong in a state, wherever it is reached."""

    def unfinished(self, state: S) -> Iterator[str]:
        """What is missing where nothing more happens."""


class Explored(NamedTuple, Generic[S]):
    states: int
    steps: int
    faults: dict[str, list[str]]
    """The shortest way to each."""


def explore(model: Model[S], *, first: bool = False) -> Explored[S]:
    """`first`: no further than the first fault."""
    start = model.start()
    came_from: dict[S, tuple[S, str] | None] = {start: None}
    before: dict[S, list[S]] = defaultdict(list)
    faults: dict[str, list[str]] = {}
    ends: list[S] = []
    waiting, steps = deque([start]), 0
    while waiting:
        state = waiting.popleft()
        found = list(model.faults(state))
        after = list(model.steps(state))
        if not after:
            found += model.unfinished(state)
            ends.append(state)
        for fault in found:
            faults.setdefault(fault, way_to(state, came_from))
        if first and faults:
            return Explored(len(came_from), steps, faults)
        steps += len(after)
        for name, other in after:
            before[other].append(state)
            if other not in came_from:
                came_from[other] = state, name
                waiting.append(other)
        if len(came_from) > MOST_STATES:
            raise RuntimeError(f"{type(model).__name__} has more than {MOST_STATES} states")
    reaching = _reaching(ends, before)
    stuck = next((state for state in came_from if state not in reaching), None)
    if stuck is not None:
        faults["it never ends"] = way_to(stuck, came_from)
    return Explored(len(came_from), steps, faults)


def _reaching(ends: Iterable[S], before: dict[S, list[S]]) -> set[S]:
    """The states from which an end can be reached."""
    reached = set(ends)
    waiting = list(reached)
    while waiting:
        for state in before.get(waiting.pop(), ()):
            if state not in reached:
                reached.add(state)
                waiting.append(state)
    return reached


def way_to(state: S, came_from: dict[S, tuple[S, str] | None]) -> list[str]:
    way: list[str] = []
    while (last := came_from[state]) is not None:
        state, name = last
        way.append(name)
    return way[::-1]


def walk(model: Model[S], chance: random.Random, most: int = 200) -> list[tuple[str, S]]:
    """One way from the start to an end, with the state after each step; it is cut off after `most` steps."""
    state, way = model.start(), list[tuple[str, S]]()
    while (after := list(model.steps(state))) and len(way) < most:
        name, state = chance.choice(after)
        way.append((name, state))
    return way
