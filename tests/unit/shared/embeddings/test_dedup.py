from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.embeddings.dedup import normal_form, same_fact, stated_key

FACT = "Retry the payment webhook at most 3 times before alerting Alice."


@pytest.mark.parametrize(
    "repeat",
    [
        FACT.upper(),
        "  retry the payment webhook at most 3 times,\nbefore alerting Alice",
        "Always retry the payment webhooks at most 3 times before alerting Alice!",
    ],
)
def test_repeats_are_one_fact(repeat: str) -> None:
    assert same_fact(FACT, repeat)
    assert same_fact(repeat, FACT)


@pytest.mark.parametrize(
    "other",
    [
        FACT.replace("3", "5"),
        FACT.replace("Alice", "Bob"),
        FACT.replace("payment", "refund"),
        FACT.replace("before", "after"),
        "Do not " + FACT[0].lower() + FACT[1:],
        FACT.replace("Retry", "Don't retry"),
    ],
)
def test_near_misses_stay_apart(other: str) -> None:
    assert not same_fact(FACT, other)
    assert not same_fact(other, FACT)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Logs are in /var/log/app.log", "Logs are in /var/log/web.log"),
        ("The disk is over 90% full", "The disk is under 90% full"),
        ("Needs Redis 7.2", "Needs Redis 7.4"),
        ("Alice reports to Bob", "Bob reports to Alice"),
        ("Alert when load > limit", "Alert when load < limit"),
        ("Keep it at -5 degrees", "Keep it at 5 degrees"),
        ("Set MAX_CONNECTIONS in the file", "Set MIN_CONNECTIONS in the file"),
        ("The demo can run here", "The demo can't run here"),
        (
            "Acme pays in euros. The total was 4,210 dollars.",
            "Acme pays in dollars. The total was 4,210 dollars.",
        ),
    ],
)
def test_swapped_figures_names_and_negations_stay_apart(a: str, b: str) -> None:
    assert not same_fact(a, b)


def test_spellings_of_one_number_and_one_negation_are_one() -> None:
    assert same_fact("The total was 4,210 dollars.", "The total was 4210 dollars")
    assert same_fact("It cannot start.", "It can't start.")
    assert same_fact("It doesn’t start", "It does not start.")


@given(st.text(), st.text())
def test_same_fact_is_reflexive_and_symmetric(a: str, b: str) -> None:
    assert same_fact(a, a)
    assert same_fact(a, b) == same_fact(b, a)


_WORDS = st.sampled_from(
    re.findall(
        r"\S+",
        "the is a migration migrations Migrations check checks, Ana ana. not never don't 3 -5 a.b a_b > < ! ( 80 %",
    )
)


@given(st.lists(_WORDS, max_size=6), st.data())
def test_texts_of_one_fact_have_one_key(words: list[str], data: st.DataObject) -> None:
    """Also where a few words are others, or come twice, or not at all."""
    others = [other for word in words for other in data.draw(st.sampled_from([[word], [], [word.lower()]]))]
    others.insert(data.draw(st.integers(0, len(others))), data.draw(_WORDS))
    a, b = " ".join(words), " ".join(others)
    assert not same_fact(a, b) or stated_key(a) == stated_key(b)


@given(st.text(), st.text())
def test_texts_of_any_kind_have_one_key_where_they_state_one_fact(a: str, b: str) -> None:
    assert not same_fact(a, b) or stated_key(a) == stated_key(b)
    assert stated_key(a) == stated_key(a.strip())


@given(st.text())
def test_normal_form_is_idempotent(text: str) -> None:
    assert normal_form(normal_form(text)) == normal_form(text)
