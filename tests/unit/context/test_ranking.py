from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from operator import itemgetter
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.agent_memory.memories.ranking import access_boost, composite, outcome_boost
from services.context import stores
from services.context.assembly.ranking import (
    RECENCY_FLOOR,
    Ranked,
    cut,
    in_order,
    own_relevance,
    rank,
    recency,
    with_distance,
)
from services.context.stores import CACHE, OWN, PEERS, Store
from shared.search.evidence import Candidate
from shared.search.relevance import Scored

NOW = datetime(2026, 7, 4, 12, 0, tzinfo=UTC)
TIMES = st.datetimes(max_value=datetime(2026, 7, 5), timezones=st.just(UTC))


def scored(store: Store = CACHE, id_: int = 1, relevance: float = 0.5, **more: Any) -> Scored:
    given = {"scope": "mission:m", "kind": "intel", "text": f"{store.name} {id_}", "created_at": NOW, **more}
    return Scored(store.name, Candidate(id=id_, **given), 0.5, 0.5, relevance, relevance)


def only(one: Scored) -> Ranked:
    return rank([one], {}, NOW)[0]


ALL = st.lists(
    st.builds(
        lambda store, id_, relevance, kind, at, chunk: scored(
            store, id_, relevance, kind=kind, occurred_at=at, chunk=chunk
        ),
        st.sampled_from(stores.STORES),
        st.integers(1, 3),
        st.sampled_from([0.2, 0.5, 0.9]),
        st.sampled_from(["intel", "decision", "lesson_learned"]),
        st.none() | TIMES,
        st.integers(0, 3),
    ),
    max_size=8,
    unique_by=lambda one: (one.store, one.candidate.id, one.candidate.chunk),
)


@settings(deadline=None)
@given(
    st.lists(
        st.builds(
            lambda one, score: only(one)._replace(score=score),
            ALL.filter(len).map(itemgetter(0)),
            st.sampled_from([0.0, -0.0, 0.3, 0.6]),
        ),
        max_size=12,
    )
)
def test_equal_scores_are_ordered_by_time_then_store_and_id(ranking: list[Ranked]) -> None:
    def key(ranked: Ranked) -> tuple[float, float, str, int, int]:
        candidate = ranked.candidate
        return -ranked.score, -candidate.stated_at.timestamp(), ranked.store, -candidate.id, candidate.chunk

    assert list(map(id, in_order(ranking))) == list(map(id, sorted(ranking, key=key)))


@settings(deadline=None)
@given(ALL, st.randoms(use_true_random=False))
def test_the_order_of_the_evidence_changes_nothing(evidence: list[Scored], random: Random) -> None:
    expected = rank(evidence, {}, NOW)
    random.shuffle(evidence)
    unchanged = rank(evidence, {}, NOW) == expected
    assert unchanged


@settings(deadline=None)
@given(ALL)
def test_the_score_is_the_product_of_its_factors_and_the_best_comes_first(evidence: list[Scored]) -> None:
    ranked = rank(evidence, {}, NOW)
    assert len(ranked) == len(evidence)
    assert all(a.score >= b.score for a, b in itertools.pairwise(ranked))
    for one in ranked:
        assert one.score == pytest.approx(one.weight * one.relevance * one.recency * one.priority)
        assert 0 <= one.relevance <= 1


@settings(deadline=None)
@given(ALL, st.sets(st.sampled_from(["mission:m", "mission:n"])))
def test_what_is_of_a_neighbour_counts_half_and_nothing_else_changes(
    evidence: list[Scored], neighbours: set[str]
) -> None:
    share = 0.5 if "mission:m" in neighbours else 1.0
    distant = with_distance(evidence, neighbours)
    assert distant == [each._replace(relevance=each.relevance * share) for each in evidence]


@settings(deadline=None)
@given(TIMES, st.sampled_from(stores.STORES))
def test_recency_lies_between_its_floor_and_one(at: datetime, store: Store) -> None:
    assert RECENCY_FLOOR <= recency(store, at, NOW) <= 1


def test_recency_halves_towards_its_floor() -> None:
    assert recency(CACHE, NOW - timedelta(hours=6), NOW) == RECENCY_FLOOR
    assert recency(CACHE, NOW - timedelta(hours=3), NOW) == pytest.approx(2**-0.5)
    assert recency(OWN, NOW - timedelta(days=15), NOW) == pytest.approx(2**-0.5)
    ageless = replace(CACHE, half_life_hours=None)
    assert recency(ageless, NOW - timedelta(days=4_000), NOW) == 1
    assert recency(CACHE, NOW + timedelta(days=1), NOW) == 1


def test_own_memories_weigh_more_than_peers() -> None:
    own, cache, peer = (only(scored(store)).weight for store in (OWN, CACHE, PEERS))
    assert own > cache > peer


def test_a_directive_goes_before_a_checkpoint() -> None:
    kinds = ["thread_checkpoint", "intel", "directive"]
    ranked = rank([scored(id_=i, kind=kind) for i, kind in enumerate(kinds, 1)], {}, NOW)
    assert [one.scored.candidate.kind for one in ranked] == kinds[::-1]
    assert all(0.9 <= factor <= 1.2 for store in stores.STORES for factor in store.priorities.values())


def test_what_happened_counts_not_when_it_was_written_down() -> None:
    old, new = (scored(id_=1, occurred_at=NOW - timedelta(days=2)), scored(id_=2))
    assert [one.scored for one in rank([old, new], {}, NOW)] == [new, old]


def alike(*relevances: float, **more: Any) -> list[Scored]:
    """Imported within a minute: each says nearly the same as the one before it."""
    return [
        scored(
            id_=number,
            relevance=relevance,
            text=f"At lunch Mia wants the soup number {number}.",
            created_at=NOW - timedelta(days=9) + timedelta(milliseconds=number),
            **more,
        )
        for number, relevance in enumerate(relevances, 1)
    ]


def ids(*found: Scored) -> list[int]:
    return [ranked.candidate.id for ranked in rank(found, {}, NOW)]


def test_of_alike_items_of_one_age_the_later_goes_first() -> None:
    assert ids(*alike(0.6, 0.6, 0.6)) == [3, 2, 1]
    assert ids(*alike(0.61, 0.6, 0.59)) == [3, 2, 1]
    assert ids(*alike(0.7, 0.6, 0.5)) == [1, 2, 3], "relevance decides where it differs"


def test_order_moves_nothing_that_says_something_else() -> None:
    other = scored(
        id_=9, relevance=0.6, text="The printer is out of paper.", created_at=NOW - timedelta(days=9)
    )
    assert rank([alike(0.61)[0], other], {}, NOW)[0].recency == RECENCY_FLOOR


@pytest.mark.parametrize(
    "more", [{"scope": "mission:n"}, {"user_id": "mia"}, {"source_kind": "document"}], ids=str
)
def test_order_does_not_count_across_scopes_users_and_trust(more: dict[str, str]) -> None:
    first, second = alike(0.61)[0], alike(0.5, 0.6, **more)[1]
    assert ids(first, second) == [1, 2]


def test_other_items_go_before_further_chunks_of_the_same() -> None:
    chunks = [scored(id_=1, relevance=0.6, chunk=n) for n in range(3)]
    other = scored(id_=2, relevance=0.55)
    order = [w.scored.candidate.id for w in rank([*chunks, other], {}, NOW)]
    assert order == [1, 2, 1, 1]


def test_own_memories_enter_with_their_composite() -> None:
    parts = {"access": 1.0, "outcome": 1.0}
    often = Candidate(id=1, scope="agent:a", kind="k", text="t", created_at=NOW, composite=parts)
    assert own_relevance(often, 0.5) > 0.5
    assert own_relevance(often, 0.0) == 0
    assert 0.95 < own_relevance(often, 0.95) < own_relevance(often, 0.96) < 1
    assert own_relevance(often, 0.5) < 0.57, "not even the most read and most successful memory gains more"
    assert own_relevance(scored().candidate, 0.5) == 0.5


FALLING = [0.9, 0.83, 0.77, 0.71, 0.65, 0.59, 0.53, 0.47, 0.41, 0.35]


@pytest.mark.parametrize(
    ("relevances", "near"),
    [
        ([], 0),
        ([0.9], 1),
        ([0.9, 0.4, 0.39], 1),
        ([0.9, 0.8, 0.4], 2),
        # A gap near the best parts nothing.
        ([0.9, 0.7, 0.65, 0.6], 4),
    ],
)
@pytest.mark.parametrize("tokens", [200, 500, 2_000, 16_000])
def test_the_relevant_ends_at_the_first_gap_below_the_best(
    relevances: list[float], near: int, tokens: int
) -> None:
    ranked = rank([scored(id_=i, relevance=one) for i, one in enumerate(relevances, 1)], {}, NOW)
    assert sum(one.relevance >= cut(ranked, tokens) for one in ranked) == near


@pytest.mark.parametrize(
    ("relevances", "tokens", "near"),
    [
        (FALLING, 2_000, 6),
        (FALLING, 500, 5),
        # Without a gap, nothing says where the relevant ends.
        ([0.9 - 0.05 * n for n in range(12)], 500, 12),
        # What is near enough for a long block is not for a short one.
        ([0.9, 0.68, 0.61, 0.4], 2_000, 3),
        ([0.9, 0.68, 0.61, 0.4], 500, 2),
        ([0.9, 0.68, 0.61, 0.4], 50, 2),
        # Saturation hides how far the strongest are from the others.
        ([0.99, 0.7, 0.6], 2_000, 1),
        ([0.99, 0.97, 0.7], 500, 2),
        ([1.0, 0.7], 500, 1),
    ],
)
def test_a_short_block_is_cut_nearer_the_best(relevances: list[float], tokens: int, near: int) -> None:
    ranked = rank([scored(id_=i, relevance=one) for i, one in enumerate(relevances, 1)], {}, NOW)
    assert sum(one.relevance >= cut(ranked, tokens) for one in ranked) == near


@settings(deadline=None)
@given(ALL, st.integers(1, 16_000))
def test_the_cut_keeps_the_most_relevant_and_ignores_weights(evidence: list[Scored], tokens: int) -> None:
    ranked = rank(evidence, {}, NOW)
    least = cut(ranked, tokens)
    assert not ranked or max(one.relevance for one in ranked) >= least
    weighed = rank(evidence, {store.name: 0.1 for store in stores.STORES}, NOW)
    assert cut(weighed, tokens) == pytest.approx(least)


@settings(deadline=None)
@given(ALL, st.integers(1, 16_000), st.integers(0, 16_000))
def test_more_room_keeps_no_less(evidence: list[Scored], tokens: int, more: int) -> None:
    ranked = rank(evidence, {}, NOW)
    assert cut(ranked, tokens + more) <= cut(ranked, tokens)


def test_composite_of_the_seed() -> None:
    assert composite(1, 1, 1) == 1
    assert composite(0.8, 0.5, 0.5) == pytest.approx(0.625 * 0.8 + 0.25 * 0.5 + 0.125 * 0.5)
    assert [outcome_boost(o) for o in ("success", "partial", None, "failed")] == [1, 0.5, 0.5, 0]


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_access_boost_grows_with_the_count_up_to_the_most_accessed(count: int, more: int) -> None:
    most = count + more
    assert 0 <= access_boost(count, most) <= 1
    assert access_boost(count, most) <= access_boost(most, most)


def test_nobody_was_accessed_yet() -> None:
    assert access_boost(0, 0) == 0
