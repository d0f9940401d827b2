"""The statements of bench-conflict, and how an answer is judged."""

from __future__ import annotations

from bench.conflict.asking import judged, texts
from bench.conflict.statements import Fact, Statement, generate


def test_a_seed_always_gives_the_same_statements() -> None:
    assert generate(20, seed=3) == generate(20, seed=3)
    assert generate(20, seed=3) != generate(20, seed=4)


def test_the_standard_run_has_enough_statements_of_one_to_four_replacements() -> None:
    material = generate(87)
    assert len(material.statements) >= 400
    assert {len(fact.older) for fact in material.facts} == {1, 2, 3, 4}


def test_statements_without_a_time_arrive_in_order() -> None:
    material = generate(40)
    for fact in material.facts:
        chain = [*fact.older, fact.newest]
        arrived = [statement for statement in material.statements if statement.fact == fact.newest.fact]
        if fact.newest.occurred_at is None:
            assert arrived == chain
        assert sorted(arrived) == sorted(chain)


def test_a_block_is_judged_by_the_place_of_the_newest() -> None:
    older, newest = (Statement(f"The port is {port}.", 0, port, None) for port in ("80", "81"))
    fact = Fact("What is the port?", False, newest, [older])
    block = "[cache:2 now agent n] The port is 81.\n[cache:1 now agent n] The port is 80."
    both = judged(fact, texts(block), frozenset())
    assert (both.newest_first, both.older_absent) == (True, False)
    assert judged(fact, [older.text, newest.text], frozenset()).newest_first is False
    alone = judged(fact, [newest.text], frozenset())
    assert (alone.newest_first, alone.older_absent) == (True, True)
    assert judged(fact, [], frozenset()).newest_first is False
