from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from shared.search.evidence import Candidate, SearchResult, StoreResult
from shared.search.relevance import Question, score

NOW = datetime(2026, 7, 4, tzinfo=UTC)
WORDS = ["deploy", "rollback"]


def turn(seq: int, text: str = "We did.", **more: Any) -> Candidate:
    given: dict[str, Any] = {"id": seq, "session_id": "s", "seq": seq, "words": 30, "cosine": 0.7, **more}
    return Candidate(scope="mission:m", kind="intel", text=text, created_at=NOW, **given)


def values(*candidates: Candidate, query: str = "deploy") -> dict[int, float]:
    result = SearchResult(WORDS, {"psychic_cache": StoreResult(100, [1, 1], list(candidates))})
    found = score(Question(query, "bge-small-en-v1.5-int8"), [result])
    return {each.candidate.id: each.relevance for each in found}


def test_a_short_turn_says_little() -> None:
    seen = values(turn(1, words=3), turn(3, words=30))
    assert seen[1] < seen[3]


def test_a_short_note_is_not_lowered() -> None:
    seen = values(turn(1, words=3, session_id=None), turn(3, words=30, session_id=None))
    assert seen[1] == seen[3]


def test_a_short_question_is_lowered() -> None:
    seen = values(turn(1, "Did we deploy?", words=10), turn(3, "We did deploy.", words=10))
    assert seen[1] < seen[3]


def test_a_turn_that_answers_a_question_is_raised() -> None:
    asked = turn(1, "When did we deploy, and who was there?", words=20, cosine=0.8)
    told = turn(1, "We did deploy, and all of us were there.", words=20, cosine=0.8)
    assert values(asked, turn(2))[2] > values(told, turn(2))[2]
    assistant = turn(2, speaker="assistant")
    assert values(asked, assistant) == values(told, assistant)


def test_the_chunks_of_a_turn_do_not_answer_each_other() -> None:
    def after(text: str) -> float:
        first = turn(1, text, words=20, chunks=2, cosine=0.8)
        second = turn(1, words=20, chunk=1, chunks=2)
        result = SearchResult(WORDS, {"psychic_cache": StoreResult(100, [1, 1], [first, second])})
        found = score(Question("deploy", "bge-small-en-v1.5-int8"), [result])
        return next(each.relevance for each in found if each.candidate.chunk == 1)

    assert after("When did we deploy, and who was there?") == after("We did deploy, and all were there.")


def test_a_turn_that_tells_a_time_answers_when() -> None:
    told = [turn(1, "It was yesterday."), turn(3, "It was fun.")]
    seen = values(*told, query="When was the deploy?")
    assert seen[1] > seen[3]
    seen = values(*told, query="Who did the deploy?")
    assert seen[1] == seen[3]


def test_a_session_with_more_of_the_questions_words_comes_first() -> None:
    about = [turn(1), turn(3, places=[1], tf=[0.1]), turn(5, places=[2], tf=[0.1])]
    beside = turn(7, session_id="t")
    seen = values(*about, beside)
    assert seen[1] > seen[7]


def test_equal_relevance_goes_to_the_newer() -> None:
    def note(id_: int, hours: int) -> Candidate:
        return Candidate(
            id=id_,
            scope="mission:m",
            kind="intel",
            text="The port is set.",
            created_at=NOW,
            occurred_at=NOW + timedelta(hours=hours),
            cosine=0.7,
        )

    assert list(values(note(1, 0), note(2, 2), note(3, 1), note(4, 0))) == [2, 3, 4, 1]


@pytest.mark.parametrize(
    ("text", "tells"),
    [
        ("We met last (Tuesday).", True),
        ("That was in MAY.", True),
        ("It began in 2023, then.", True),
        ("The 3rd attempt.", True),
        ("The 13TH.", True),
        ("We met the mayor.", False),
        ("It has 12345 lines and 99 tests.", False),
        ("It lasted_days.", False),
    ],
)
def test_a_turn_tells_a_time_by_a_whole_word(text: str, tells: bool) -> None:
    asked = "When did we deploy?"
    raised = values(turn(1, text), query=asked)[1] - values(turn(1, "We did."), query=asked)[1]
    assert (raised > 0) == tells
