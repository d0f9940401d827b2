from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shared.provenance import date_words
from shared.search.dates import Mention, mentions

WORDS = st.sampled_from(
    [
        "may",
        "May",
        "in",
        "on",
        "last",
        "5",
        "31",
        "0",
        "2023",
        "2023-13",
        "2023-02-31",
        "march",
        "Sept",
        "of",
        ",",
        "?",
    ]
)


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What did Ana say on 7 May 2023?", [Mention(2023, 5, 7)]),
        ("What did Ana say on May 7th, 2023?", [Mention(2023, 5, 7)]),
        ("the 3rd of June", [Mention(None, 6, 3)]),
        ("the release of 2023-05-07", [Mention(2023, 5, 7)]),
        ("the release of 2023-05", [Mention(2023, 5, None)]),
        ("Was it in May?", [Mention(None, 5, None)]),
        ("the trip last march", [Mention(None, 3, None)]),
        ("What happened in December 2022 and on 2 Jan?", [Mention(2022, 12, None), Mention(None, 1, 2)]),
        ("Who joined in 2021?", [Mention(2021, None, None)]),
        ("in February", [Mention(None, 2, None)]),
        ("Dec 31", [Mention(None, 12, 31)]),
    ],
)
def test_dates_are_read(question: str, expected: list[Mention]) -> None:
    assert mentions(question) == expected


@pytest.mark.parametrize(
    "question",
    [
        "may I restart it?",
        "they march on",
        "why does port 2023 answer?",
        "what is in 2023-13-01",
        "release 1.2.3",
        "the decision of the mayor",
        "",
    ],
)
def test_what_is_not_sure_is_not_a_date(question: str) -> None:
    assert mentions(question) == []


@settings(deadline=None)
@given(st.one_of(st.text(), st.lists(WORDS).map(" ".join)), st.dates())
def test_any_question_and_any_day_can_be_compared(question: str, day: date) -> None:
    for mention in mentions(question):
        assert isinstance(mention.covers(day), bool)


@settings(deadline=None)
@given(st.dates())
def test_a_day_named_in_full_covers_itself(day: date) -> None:
    assert Mention(day.year, day.month, day.day).covers(day)
    assert Mention(None, day.month, day.day).covers(day)
    assert Mention(day.year, day.month, None).covers(day)
    assert Mention(day.year, None, None).covers(day)


@pytest.mark.parametrize(("days", "covered"), [(-1, False), (0, True), (7, True), (8, False)])
def test_a_day_is_remembered_for_a_week(days: int, covered: bool) -> None:
    assert Mention(2023, 5, 7).covers(date(2023, 5, 7) + timedelta(days)) is covered


def test_a_week_may_run_into_the_next_year() -> None:
    assert Mention(None, 12, 30).covers(date(2024, 1, 3))
    assert not Mention(None, 12, 30).covers(date(2024, 1, 20))
    assert Mention(2023, 12, 30).covers(date(2024, 1, 3))


def test_there_is_no_year_before_the_first() -> None:
    assert not Mention(None, 5, 7).covers(date.min)
    assert not Mention(None, 12, 30).covers(date.min)


def test_the_last_of_a_month_that_has_fewer_days() -> None:
    assert Mention(2023, 2, 31).covers(date(2023, 2, 28))
    assert not Mention(2023, 3, 1).covers(date(2023, 2, 28))


def test_words_of_a_date_are_those_that_people_ask_with() -> None:
    assert date_words(date(2023, 5, 7)) == "7 May 2023 Sunday"
    assert mentions(f"on {date_words(date(2023, 5, 7))}") == [Mention(2023, 5, 7)]


def test_a_question_full_of_dates_names_a_few() -> None:
    """Each candidate is compared with each date, on the event loop."""
    days = [date(1990, 1, 1) + timedelta(days=31 * number) for number in range(400)]
    named = mentions(" ".join(date_words(day) for day in days))
    assert named == [Mention(day.year, day.month, day.day) for day in days[:32]]


def test_a_date_that_is_repeated_counts_once() -> None:
    assert mentions("in may " * 1_000 + "and in June 2023") == [
        Mention(None, 5, None),
        Mention(2023, 6, None),
    ]
