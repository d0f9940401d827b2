"""Whether a fact may answer a question, by their words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from services.agent_memory.facts.words import Words, content_words, patterns


@pytest.mark.parametrize(
    "forms",
    [
        "own owns owner owners owned owning",
        "city cities",
        "live lives lived living",
        "use uses used user",
        "movie movies",
        "marry marries married",
        "birthday birthdays",
        "manage manages manager managing",
        "run runs running",
        "locate located location",
        "boss bosses",
    ],
)
def test_forms_of_a_word_are_one(forms: str) -> None:
    assert len(content_words(forms)) == 1


def test_different_words_stay_different() -> None:
    words = "lives likes works lisbon london port part owner color city country"
    assert len(content_words(words)) == len(words.split())


@pytest.mark.parametrize("question", ["Lisbon?", "LISBON!", "(Lisbon)", "What do you know about Lisbon?"])
def test_a_question_that_is_a_name_asks_for_every_fact(question: str) -> None:
    asked = Words(question, ["lisbon"])
    assert asked.held("lisbon lisbon", "country Portugal") == 1.0
    assert asked.held("lisbon lisbon", "has Tower") == 1.0


@pytest.mark.parametrize(
    ("question", "said", "answers"),
    [
        ("Where does Ana live?", "lives in Lisbon", True),
        ("Where does Ana live?", "owns a boat", False),
        ("Who does Ana's manager trust?", "manager Rui", True),
        ("What does Ana think of Lisbon?", "works in LISBON", True),
        ("What does Ana like?", "is Ana", False),
        ("What does Ana like?", "is the sister of Rui", False),
        ("Ana の住所は？", "住所 リスボン", True),
    ],
)
def test_a_fact_answers_by_a_word_beyond_the_name(question: str, said: str, answers: bool) -> None:
    assert (Words(question, ["ana", "lisbon"]).held("ana ana", said) > 0) == answers


def test_what_holds_more_of_the_question_comes_first() -> None:
    asked = Words("Which boat does Ana sail to Lisbon?", ["ana"])
    order = [asked.held("ana ana", said) for said in ("sails a boat to Lisbon", "owns a boat", "likes tea")]
    assert order == [1.0, 0.5, 0.0]


def test_words_of_an_alias_and_of_its_entity_are_its_own() -> None:
    asked = Words("Who is on call for billing?", ["billing"])
    assert asked.held("billing payments service", "on call Rui") == 1.0
    assert asked.held("billing payments service", "replaces billing") == 0.0


@given(st.text(max_size=200), st.text(max_size=60), st.text(max_size=60))
def test_the_share_is_one(question: str, name: str, said: str) -> None:
    assert 0.0 <= Words(question, [name]).held(name, said) <= 1.0


def test_patterns_hold_no_sign_of_like_and_are_few() -> None:
    assert patterns("Who owns 100%_of \\payments?") == ["% payment%", "% 100%", "% own%"]
    assert len(patterns(" ".join(f"word{number}" for number in range(100)))) == 16
    assert "%住所%" in patterns("アナの住所は？")
