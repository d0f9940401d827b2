"""A model of facts in plain Python: which values hold on which day, and whether a trusted source says so."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterator
from copy import deepcopy
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple

DAYS = 10
"""The last one has no end."""
FIRST = datetime(2020, 1, 1, tzinfo=UTC)
NAMES = ("bob", "robert", "ana", "rui", "eva")
PREDICATES = ("knows", "leads")

Kind = Literal["write", "add", "close", "alias"]
KINDS: tuple[Kind, ...] = ("write", "add", "close", "alias")


def day(number: int) -> datetime:
    return FIRST + timedelta(days=number)


class Operation(NamedTuple):
    kind: Kind
    subject: str
    predicate: str | None
    object: str | None
    start: int
    stop: int | None
    trusted: bool


class Pair(NamedTuple):
    subject: str
    predicate: str


class Model:
    def __init__(self) -> None:
        self.names: dict[str, str] = {}
        self.days: defaultdict[Pair, defaultdict[str, dict[int, bool]]] = defaultdict(
            lambda: defaultdict(dict)
        )
        """By subject and predicate, by value: the days on which it holds, and whether it is trusted then."""

    def entity(self, name: str) -> str:
        while name in self.names:
            name = self.names[name]
        return name

    def holding(self, number: int) -> set[tuple[str, str, str]]:
        return {
            (pair.subject, pair.predicate, value)
            for pair, values in self.days.items()
            for value, days in values.items()
            if number in days
        }

    def apply(self, operation: Operation) -> None:
        subject = self.entity(operation.subject)
        if operation.kind == "alias":
            assert operation.object is not None
            self._merge(subject, self.entity(operation.object), operation.subject)
        elif operation.kind == "close":
            self._close(subject, operation)
        else:
            self._state(subject, operation)

    def _state(self, subject: str, operation: Operation) -> None:
        assert operation.predicate is not None
        assert operation.object is not None
        values, own = self.days[Pair(subject, operation.predicate)], self.entity(operation.object)
        others = {value: days for value, days in values.items() if value != own}
        stop = DAYS + 1 if operation.stop is None else operation.stop
        if operation.kind == "write":
            if operation.stop is None:
                begins = [n for days in others.values() for n in _begins(_weak(days, operation.trusted))]
                stop = min([stop, *(n for n in begins if n > operation.start)])
            for days in others.values():
                _remove(days, range(operation.start, stop), operation.trusted)
        for number in range(operation.start, stop):
            values[own][number] = operation.trusted or values[own].get(number, False)

    def _close(self, subject: str, operation: Operation) -> None:
        value = None if operation.object is None else self.entity(operation.object)
        for pair, values in self.days.items():
            if pair.subject == subject and operation.predicate in (None, pair.predicate):
                for name, days in values.items():
                    if value in (None, name):
                        _remove(days, range(operation.start, DAYS + 1), operation.trusted)

    def _merge(self, old: str, entity: str, name: str) -> None:
        if old == entity or name in self.names:
            return
        self.names[old] = entity
        former, self.days = self.days, Model().days
        for pair, values in former.items():
            for value, days in values.items():
                merged = self.days[Pair(self.entity(pair.subject), pair.predicate)][self.entity(value)]
                for number, trusted in days.items():
                    merged[number] = trusted or merged.get(number, False)


def _weak(days: dict[int, bool], trusted: bool) -> set[int]:
    """The days that a statement may take."""
    return {number for number, firm in days.items() if trusted or not firm}


def _begins(days: set[int]) -> Iterator[int]:
    return (number for number in days if number - 1 not in days)


def _remove(days: dict[int, bool], numbers: range, trusted: bool) -> None:
    for number in _weak(days, trusted).intersection(numbers):
        del days[number]


def history(chance: random.Random, length: int) -> list[Operation]:
    return [_operation(chance) for _ in range(length)]


def _operation(chance: random.Random) -> Operation:
    kind = chance.choices(KINDS, (5, 4, 3, 1))[0]
    subject, value = chance.sample(NAMES, 2)
    start = chance.randrange(DAYS)
    stop = (
        chance.randrange(start + 1, DAYS + 1) if kind in ("write", "add") and chance.random() < 0.3 else None
    )
    named = kind != "close" or chance.random() < 0.5
    # Names are merged by whom everybody trusts: a document may not move what others state.
    trusted = kind == "alias" or chance.random() < 0.7
    return Operation(kind, subject, chance.choice(PREDICATES), value if named else None, start, stop, trusted)


class Snapshots:
    """What the model holds after each operation."""

    def __init__(self, operations: list[Operation]) -> None:
        self._model, self._then = Model(), list[Model]()
        for operation in operations:
            self._model.apply(operation)
            self._then.append(deepcopy(self._model))

    def entity(self, name: str) -> str:
        return self._model.entity(name)

    def holding(self, step: int, number: int) -> set[tuple[str, str, str]]:
        """Under the names that the entities have in the end."""
        return {
            (self.entity(subject), predicate, self.entity(value))
            for subject, predicate, value in self._then[step].holding(number)
        }
