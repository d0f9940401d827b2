"""Which commits of a batch repeat a memory, or a commit before them. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import asyncpg

from services.agent_memory.memories.commits.queries_repeats import Commit
from shared.embeddings import same_fact

Row: TypeAlias = Mapping[str, Any] | asyncpg.Record

# How many near texts are compared with a commit's own, the nearest first.
_MOST_NEAR = 50


class Stored(NamedTuple):
    memory_id: int


class Earlier(NamedTuple):
    """A commit before, which is new."""

    place: int


class Repeats:
    """Places count from 0, the rows of `find_repeats` from 1."""

    def __init__(self, commits: Sequence[Commit], rows: Sequence[Row]) -> None:
        self._commits = commits
        self._rows: dict[int, list[Row]] = defaultdict(list)
        for row in rows:
            self._rows[row["place"] - 1].append(row)
        self._new: set[int] = set()
        self._new_facts: dict[tuple[str, bytes | None], int] = {}

    def compared(self, place: int) -> int:
        """How many characters `of` compares, at most."""
        rows = self._rows.get(place, ())
        return sum(len(self._text(row)) for row in rows[:_MOST_NEAR])

    def add_new(self, place: int) -> None:
        """The commit repeats nothing, so later ones may repeat it."""
        self._new.add(place)
        self._new_facts[self._fact(place)] = place

    def of(self, place: int) -> Stored | Earlier | None:
        """By the fact, or else the nearest that states the same."""
        rows = self._rows.get(place, ())
        if rows and rows[0]["distance"] is None:
            return Stored(rows[0]["id"])
        if (before := self._new_facts.get(self._fact(place))) is not None:
            return Earlier(before)
        own = self._commits[place].memory.content
        there = [row for row in rows if row["earlier"] is None or row["earlier"] - 1 in self._new]
        same = next((row for row in there[:_MOST_NEAR] if same_fact(own, self._text(row))), None)
        if same is None:
            return None
        return Stored(same["id"]) if same["earlier"] is None else Earlier(same["earlier"] - 1)

    def _fact(self, place: int) -> tuple[str, bytes | None]:
        return self._commits[place].agent, self._commits[place].fact

    def _text(self, row: Row) -> str:
        text: str | None = row["content"]
        if text is not None:
            return text
        return "" if row["earlier"] is None else self._commits[row["earlier"] - 1].memory.content
