import pytest

from bench.precision import cases
from bench.precision.__main__ import table
from bench.precision.change import Pair, factor, points
from bench.precision.measuring import WAYS, Block, Outcome, report


def block(precision: float, recall: float, *, quiet: bool = False) -> Block:
    return Block(precision, recall, quiet, 100)


def outcome(category: str, *, answerable: bool, before: Block, after: Block) -> Outcome:
    blocks = {way: {500: one, 2_000: one} for way, one in zip(WAYS, (before, after), strict=True)}
    return Outcome(category, answerable, blocks)


def test_every_case_has_its_items_and_a_sixth_has_no_answer() -> None:
    items, questions = cases.load()
    known = {(item.fleet, item.id) for item in items}
    assert len(known) == len(items)
    assert len(questions) == 60
    assert {(one.fleet, gold) for one in questions for gold in one.gold} <= known
    assert sum(not one.gold for one in questions) >= 10
    assert {one.category for one in questions} == {
        "alias",
        "scope",
        "wrong person",
        "plain",
        "nothing wanted",
    }


def test_unanswerable_questions_count_only_as_silent_or_flagged() -> None:
    found = report(
        [
            outcome("plain", answerable=True, before=block(0.25, 1), after=block(1, 1)),
            outcome("plain", answerable=True, before=block(0.25, 1), after=block(0.5, 0)),
            outcome("nothing", answerable=False, before=block(0, 0), after=block(0, 0, quiet=True)),
        ]
    )
    assert found["before"]["precision"] == {"b500": 0.25, "b2000": 0.25}
    assert found["after"]["precision"]["b500"] == 0.75
    assert found["after"]["recall"] == {"b500": 0.5, "b2000": 0.5}
    assert [found[way]["silent_or_flagged"] for way in WAYS] == [0, 1]
    assert "precision" not in found["by_category"]["nothing"]["after"]
    lines = list(table({"cases": found}))
    assert len(lines) == 1 + 2 * len(("cases", "nothing", "plain")) + len(("b500", "b2000"))
    assert lines[-2].startswith("cases, b500: precision x3.0 (")
    assert "0.750" in lines[2]


def test_a_change_is_surer_with_more_questions() -> None:
    few = [Pair(0.25, 0.5), Pair(0.5, 0.5), Pair(0.25, 1)] * 3
    small, large = points(few), points(few * 20)
    assert small is not None
    assert large is not None
    assert small.value == large.value == pytest.approx(33.33)
    assert small.low < large.low < large.value < large.high < small.high
    assert points(few) == small


def test_a_factor_needs_something_before() -> None:
    assert factor([]) is None
    assert factor([Pair(0, 1)]) is None
    assert factor([Pair(0.25, 0.5)]) == (2, 2, 2)
    # Draws of the first alone have no factor.
    assert factor([Pair(0, 0), Pair(0.5, 1)]) == (2, 2, 2)
