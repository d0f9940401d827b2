"""How many of the days and promises of labelled sentences the rules find, and how many of theirs are right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

import pytest

from services.agent_memory.consolidation.extraction.rules import learn
from services.agent_memory.consolidation.extraction.saying import sentences
from services.agent_memory.consolidation.extraction.tense import days
from services.agent_memory.consolidation.learned import Source, Turn
from tests.unit.agent_memory.consolidation.sentences import HELD, SEEN, Labelled

NOW = datetime(2026, 3, 4, 10, tzinfo=UTC)
PRECISION, RECALL = 0.9, 0.6
Found = tuple[str, ...]


def turn(text: str, author: str = "Ana", position: int = 0) -> Turn:
    return Turn(position=position, role="user", author=author, text=text, at=NOW, trust="user")


def dates(one: Labelled) -> list[Found]:
    found = [day for said in sentences(turn(one.text), "Ana") for day in days(said)]
    spans = ((f"{day.first}", f"{day.last}") for day in found)
    return [(first,) if first == last else (f"{first}/{last}",) for first, last in spans]


def promises(one: Labelled) -> list[Found]:
    learned = learn([turn(one.text), turn("Fine.", "Rui", 1)], Source())
    return [(f"{each.owed_by}", f"{each.due_at:%Y-%m-%d}") for each in learned.commitments]


def figures(pairs: Iterator[tuple[Sequence[Found], Sequence[Found]]]) -> tuple[float, float]:
    """Precision and recall of what was found against what is there."""
    right = found = there = 0
    for got, gold in pairs:
        right += len(set(got) & set(gold))
        found += len(got)
        there += len(gold)
    return right / found, right / there


@pytest.mark.parametrize("half", [SEEN, HELD], ids=["seen", "held"])
def test_days_and_promises_are_found(half: Sequence[Labelled]) -> None:
    of_days = figures((dates(one), [(date,) for date in one.dates]) for one in half)
    of_promises = figures((promises(one), one.promises) for one in half)
    print(f"{len(half)} sentences: days precision {of_days[0]:.2f}, recall {of_days[1]:.2f};", end=" ")
    print(f"promises precision {of_promises[0]:.2f}, recall {of_promises[1]:.2f}")
    for precision, recall in (of_days, of_promises):
        assert precision >= PRECISION
        assert recall >= RECALL


def test_the_measure_sees_what_is_wrong() -> None:
    assert figures(iter([([("a",), ("b",)], [("a",)])])) == (0.5, 1.0)
    assert figures(iter([([("a",)], [("a",), ("b",)])])) == (1.0, 0.5)
