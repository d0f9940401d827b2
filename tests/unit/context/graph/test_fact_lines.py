"""Which facts a block shows: first those that may answer, then others where nothing else takes the room."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

from services.context.assembly.graph.lines import Line, lines, with_others
from services.context.assembly.record import logged_fact
from services.context.log.replay import (
    BACKGROUND,
    LEAST_BUDGET_OF_FACTS,
    LoggedCandidate,
    replay,
    room_for_facts,
)
from shared.packing import NOT_PACKED, TAKEN
from shared.render import Fence
from shared.search.evidence import Triple

NOW = datetime(2026, 7, 4, 12, 0, tzinfo=UTC)
FENCE = Fence(NOW, "k3f")


def fact(id_: int, overlap: float, length: int = 10) -> Triple:
    value = "x" * length
    return Triple(
        id=id_, scope="shared", subject="Ana", predicate="has", object=value, valid_from=NOW, overlap=overlap
    )


def outcomes(facts: Sequence[Line]) -> dict[int, str]:
    return {one.triple.id: one.outcome for one in facts}


def test_what_may_answer_comes_first_and_has_its_room() -> None:
    found = lines([fact(1, 0.0), fact(2, 0.5)], 1_000, FENCE)
    assert [(one.triple.id, one.shown) for one in found] == [(2, True), (1, False)]


def test_others_take_only_what_is_left() -> None:
    facts = lines([fact(1, 0.0), fact(2, 0.5)], 1_000, FENCE)
    assert outcomes(with_others(facts, 1_000, left=0)) == {2: TAKEN, 1: NOT_PACKED}
    assert outcomes(with_others(facts, 1_000, left=500)) == {2: TAKEN, 1: BACKGROUND}


def test_both_share_one_room() -> None:
    facts = with_others(
        lines([fact(id_, id_ % 2, 100) for id_ in range(40)], 2_000, FENCE), 2_000, left=2_000
    )
    spent = [one.entry.tokens for one in facts if one.shown]
    assert 0 < sum(spent) <= room_for_facts(2_000)
    assert all(one.answers for one in facts if one.shown)


FOUND = st.lists(st.tuples(st.sampled_from([0.0, 0.2, 1.0]), st.integers(1, 200)), max_size=12)
ITEMS = st.lists(st.integers(12, 300), max_size=12)


@given(FOUND, ITEMS, st.integers(LEAST_BUDGET_OF_FACTS, 3_000), st.integers(1, 3_000))
def test_a_replay_gives_facts_the_room_that_the_assembly_did(
    found: list[tuple[float, int]], items: list[int], tokens: int, other: int
) -> None:
    facts = lines([fact(id_, *one) for id_, one in enumerate(found, 1)], tokens, FENCE)
    entries = [
        LoggedCandidate(f"cache:{id_}", 0.5, 1.0, 0.5, 1.0, 1.0, size, 0, NOT_PACKED)
        for id_, size in enumerate(items, 1)
    ]
    packed = replay([*map(logged_fact, facts), *entries], tokens, {}, {})
    on_entries = sum(one.taken for one in packed.candidates if one.handle.startswith("cache:"))
    spent = sum(one.entry.tokens for one in facts if one.shown)
    facts = with_others(facts, tokens, tokens - spent - on_entries)
    expected = {one.handle: one.outcome for one in facts}
    assert {one.handle: one.outcome for one in packed.candidates if one.handle in expected} == expected
    assert packed.total_tokens <= tokens
    assert replay(replay(packed.candidates, other, {}, {}).candidates, tokens, {}, {}) == packed
