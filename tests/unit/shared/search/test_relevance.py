from __future__ import annotations

import itertools
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.embeddings.band import COSINE_BANDS, FLOORS, Band, Floors
from shared.search.evidence import Candidate, SearchResult, StoreResult
from shared.search.relevance import Question, Scored, answerable, score, unheld_names, unsaturated

MODEL = "bge-small-en-v1.5-int8"
NOW = datetime(2026, 7, 4, tzinfo=UTC)
QUERY = "What did Ana say about the deploy on 7 May 2023?"
WORDS = ["deploy", "ana", "say"]

# Few values, so that turns meet as neighbours, and as equals.
CANDIDATES = st.builds(
    lambda at, tf, cosine, who, when, words: Candidate(
        id=at[0],
        chunk=at[1],
        chunks=2,
        session_id="s",
        seq=at[2],
        scope="mission:m",
        kind="intel",
        text="text",
        created_at=NOW,
        words=words,
        cosine=cosine,
        places=[1, 2, 3],
        tf=tf,
        speaker=who,
        occurred_at=when,
    ),
    at=st.tuples(st.integers(1, 4), st.integers(0, 1), st.none() | st.integers(1, 3)),
    tf=st.lists(st.floats(0, 1), min_size=3, max_size=3),
    cosine=st.none() | st.floats(-1, 1),
    who=st.sampled_from([None, "Ana", "assistant"]),
    when=st.sampled_from([None, datetime(2023, 5, 8, tzinfo=UTC), datetime(1, 1, 1, tzinfo=UTC)]),
    words=st.sampled_from([1, 40, 400]),
)
ITEMS = st.lists(CANDIDATES, max_size=5, unique_by=lambda c: (c.id, c.chunk))
RESULTS = st.lists(
    st.builds(
        lambda store, documents, df, items: SearchResult(WORDS, {store: StoreResult(documents, df, items)}),
        st.sampled_from(["psychic_cache", "agent_memory_own"]),
        st.sampled_from([0, 1, 1000]),
        st.lists(st.integers(0, 50), min_size=3, max_size=3),
        ITEMS,
    ),
    max_size=2,
    unique_by=lambda result: next(iter(result.stores)),
)


def found(id_: int = 1, *, tf: float = 0.0, cosine: float | None = None, **more: Any) -> Candidate:
    given = {"scope": "mission:m", "kind": "intel", "text": f"text {id_}", "created_at": NOW, **more}
    return Candidate(id=id_, places=[1], tf=[tf], cosine=cosine, **given)


def result(
    *candidates: Candidate, store: str = "psychic_cache", df: int = 1, documents: int = 100
) -> SearchResult:
    return SearchResult(["word"], {store: StoreResult(documents, [df], list(candidates))})


def scores(*results: SearchResult, query: str = "word", model: str = MODEL) -> dict[int, float]:
    return {one.candidate.id: one.relevance for one in score(Question(query, model), results)}


class Expected(msgspec.Struct):
    query: str
    model: str
    scored: list[dict[str, Any]]


class Recorded(msgspec.Struct):
    """Evidence of three stores, and what was made of it for some questions."""

    results: list[SearchResult]
    expected: list[Expected]


RECORDED = msgspec.json.decode((Path(__file__).parent / "golden/relevance.json").read_bytes(), type=Recorded)


@pytest.mark.parametrize("expected", RECORDED.expected, ids=lambda e: e.query)
def test_recorded_evidence_scores_as_it_did(expected: Expected) -> None:
    scored = score(Question(expected.query, expected.model), RECORDED.results)
    assert [(s.store, s.candidate.id, s.candidate.chunk) for s in scored] == [
        (e["store"], e["id"], e["chunk"]) for e in expected.scored
    ]
    for name in ("text", "vector", "evidence", "relevance"):
        assert [getattr(s, name) for s in scored] == pytest.approx([e[name] for e in expected.scored])


@settings(deadline=None)
@given(RESULTS)
def test_relevance_stays_between_0_and_1(results: list[SearchResult]) -> None:
    for one in score(Question(QUERY, MODEL), results):
        assert 0 <= one.relevance <= 1
        assert 0 <= one.text <= 1
        assert one.vector >= 0
        assert one.evidence >= FLOORS.noise


@settings(deadline=None, max_examples=150)
@given(RESULTS, st.randoms(use_true_random=False))
def test_the_order_of_the_evidence_changes_nothing(results: list[SearchResult], random: Random) -> None:
    expected = score(Question(QUERY, MODEL), results)
    shuffled = list(results)
    random.shuffle(shuffled)
    for one in shuffled:
        for store in one.stores.values():
            random.shuffle(store.candidates)
    unchanged = score(Question(QUERY, MODEL), shuffled) == expected
    assert unchanged


@settings(deadline=None)
@given(RESULTS)
def test_the_best_comes_first(results: list[SearchResult]) -> None:
    ordered = score(Question(QUERY, MODEL), results)
    assert all(a.relevance >= b.relevance for a, b in itertools.pairwise(ordered))


def test_nothing_found_is_no_score() -> None:
    assert score(Question("word", MODEL), []) == []
    assert score(Question("word", MODEL), [result()]) == []
    assert not answerable([])


def test_both_arms_raise_a_candidate() -> None:
    both, text, vector = scores(
        result(found(1, tf=1, cosine=0.8), found(2, tf=1, cosine=0.5), found(3, cosine=0.8))
    ).values()
    assert both > max(text, vector)
    assert min(text, vector) > 0


def test_without_vectors_text_alone_decides() -> None:
    assert scores(result(found(1, tf=1)))[1] > 0.8
    assert answerable(score(Question("word", MODEL), [result(found(1, tf=1))]))


def test_rare_words_weigh_more_than_common_ones() -> None:
    evidence = SearchResult(
        ["common", "rare"],
        {"psychic_cache": StoreResult(1000, [900, 2], [found(1, tf=1), found(2, tf=1)])},
    )
    common, rare = evidence.stores["psychic_cache"].candidates
    common.places, rare.places = [1], [2]
    ordered = score(Question("common rare", MODEL), [evidence])
    assert ordered[0].candidate.id == 2


def test_the_best_of_an_irrelevant_store_does_not_look_like_the_best_of_a_relevant_one() -> None:
    relevant = result(found(1, tf=2, cosine=0.8), store="agent_memory_own")
    junk = result(found(2, tf=0.05, cosine=0.5), found(3, tf=0.04, cosine=0.49))
    ordered = score(Question("word", MODEL), [junk, relevant])
    assert [one.candidate.id for one in ordered] == [1]
    assert score(Question("word", MODEL), [junk]) == []


def test_below_the_floor_nothing_is_kept() -> None:
    low, high, _ = COSINE_BANDS[MODEL]
    just_below = low + (high - low) * 2 * (FLOORS.noise - 0.01)
    just_above = low + (high - low) * 2 * (FLOORS.noise + 0.01)
    assert list(scores(result(found(1, cosine=just_below), found(2, cosine=just_above)))) == [2]


def test_each_model_has_its_own_band() -> None:
    assert scores(result(found(1, cosine=0.5)), model=MODEL) == {}
    assert scores(result(found(1, cosine=0.5)), model="openai:text-embedding-3-small") != {}


def test_a_neighbour_of_a_hit_is_raised() -> None:
    turns = [found(n, cosine=0.62, session_id="s", seq=n, words=10) for n in (1, 2, 5)]
    hit = found(3, tf=1, cosine=0.85, session_id="s", seq=3, words=10)
    values = scores(result(*turns, hit))
    assert values[2] > values[1] > values[5]


def test_the_same_turn_of_another_session_or_scope_is_no_neighbour() -> None:
    hit = found(3, tf=1, cosine=0.85, session_id="s", seq=3, words=10)
    strangers = [
        found(4, cosine=0.62, session_id="t", seq=4, words=10),
        found(5, cosine=0.62, session_id="s", seq=4, words=10, scope="mission:n"),
    ]
    values = scores(result(hit, *strangers))
    assert values[4] == values[5] == scores(result(strangers[0]))[4]


def test_the_speaker_that_a_question_names_is_raised() -> None:
    said = [found(1, cosine=0.7, speaker="Ana Diaz"), found(2, cosine=0.7, speaker="Bo")]
    values = scores(result(*said), query="what did ana want?")
    assert values[1] > values[2]
    assert len(set(scores(result(*said), query="what did ana tell bo?").values())) == 1
    assert len(set(scores(result(*said), query="what was wanted?").values())) == 1


def test_the_day_that_a_question_names_is_raised() -> None:
    at = datetime(2023, 5, 7, tzinfo=UTC)
    told = [
        found(1, cosine=0.7, occurred_at=at),
        found(2, cosine=0.7, occurred_at=at + timedelta(days=60)),
    ]
    values = scores(result(*told), query="what happened on 7 May 2023?")
    assert values[1] > values[2]


def test_what_a_model_said_weighs_less_unless_it_is_asked() -> None:
    said = [found(1, cosine=0.7, speaker="assistant"), found(2, cosine=0.7, speaker="user")]
    assert scores(result(*said), query="which port?")[1] < scores(result(*said), query="which port?")[2]
    assert len(set(scores(result(*said), query="what was your advice?").values())) == 1


def test_an_installation_sets_the_floors() -> None:
    low, high, _ = COSINE_BANDS[MODEL]
    strict = Question("word", MODEL, Band(low, high, Floors(0.3, 0.6)))
    usual = Question("word", MODEL)
    evidence = [
        result(found(1, cosine=low + (high - low) * 0.5), found(2, tf=0.5, cosine=low + (high - low)))
    ]
    assert len(score(usual, evidence)) == 2
    (kept,) = score(strict, evidence)
    assert kept.candidate.id == 2
    assert not answerable([kept._replace(evidence=0.5)], strict.scale.floors)
    assert answerable([kept._replace(evidence=0.5)], usual.scale.floors)


def test_an_answer_is_told_from_junk() -> None:
    def strength(*candidates: Candidate) -> list[Scored]:
        return score(Question("word", MODEL), [result(*candidates)])

    assert answerable(strength(found(1, tf=1, cosine=0.8)))
    assert not answerable(strength(found(1, tf=0.1, cosine=0.55)))


@settings(deadline=None)
@given(st.floats(0, 1), st.floats(0, 1))
def test_saturation_is_undone_in_the_same_order(one: float, other: float) -> None:
    assert (one <= other) == (unsaturated(one) <= unsaturated(other)) or one == pytest.approx(other)
    assert unsaturated(min(one, 0.8)) == min(one, 0.8)


def about(lexemes: list[str], df: list[int], *candidates: Candidate) -> list[SearchResult]:
    return [SearchResult(lexemes, {"psychic_cache": StoreResult(50, df, list(candidates))})]


@pytest.mark.parametrize(
    ("query", "lexemes", "df", "unheld"),
    [
        ("Which pets does Melanie keep?", ["keep", "melani", "pet"], [1, 0, 1], 1 / 3),
        ("Which pets does Melanie keep?", ["keep", "melani", "pet"], [1, 1, 1], 0),
        ("What did Kelly say to Nate?", ["kelli", "nate", "say"], [0, 0, 1], 2 / 3),
        # What begins a sentence has a capital anyway, and so have days and months.
        ("Pets? Which pets?", ["pet"], [0], 0),
        ("Who moved on Monday in July?", ["juli", "monday", "move"], [0, 0, 1], 0),
        ("Which ai does Ana use?", ["ai", "ana", "use"], [0, 1, 1], 0),
        # In German, every noun has a capital.
        ("Wann nahm sie den Zug?", ["german nahm", "german zug", "zug"], [1, 0, 0], 0),
        ("", [], [], 0),
    ],
)
def test_a_question_about_names_that_nothing_holds(
    query: str, lexemes: list[str], df: list[int], unheld: float
) -> None:
    assert unheld_names(query, about(lexemes, df, found())) == pytest.approx(unheld)


def test_a_question_full_of_names_takes_linear_time() -> None:
    """Four times the names may take four times as long, and some noise; quadratic time would be sixteen times."""

    def seconds(count: int) -> float:
        names = [f"Name{number}x" for number in range(count)]
        results = about([name.lower() for name in names], [0] * count, found())
        started = time.process_time()
        assert unheld_names("Who is " + " ".join(names), results) == pytest.approx(1)
        return time.process_time() - started

    assert min(seconds(4_000) for _ in range(5)) < 10 * min(seconds(1_000) for _ in range(5))


@pytest.mark.parametrize("of", [{"speaker": "Melanie"}, {"agent": "melanie"}, {"scope": "mission:melanie-7"}])
def test_a_name_is_known_that_a_candidate_is_by_or_about(of: dict[str, Any]) -> None:
    results = about(["keep", "melani", "pet"], [1, 0, 1], found(**of))
    assert unheld_names("Which pets does Melanie keep?", results) == 0


def test_names_that_nobody_mentions_need_more_evidence() -> None:
    (kept,) = score(Question("word", MODEL), [result(found(1, tf=1, cosine=0.5))])
    middling = [kept._replace(evidence=FLOORS.answer + 0.05)]
    assert answerable(middling)
    assert not answerable(middling, unheld=1 / 3)
    assert answerable([kept._replace(evidence=0.7)], unheld=1 / 3)
