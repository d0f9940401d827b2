"""Which candidates a newer one supersedes by rule, and which it must not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from services.context.assembly.supersession.newest import superseded
from shared.search.evidence import Candidate
from tests.unit.context.supersession.pairs import BOTH_HOLD, NEAR, PARAPHRASED, REPLACED

BEGINNING = datetime(2026, 5, 1, tzinfo=UTC)
CACHE = "psychic_cache"


def candidate(number: int, text: str, **more: Any) -> Candidate:
    fields = {"scope": "mission:m", "kind": "intel", "agent": "scout", **more}
    fields.setdefault("created_at", BEGINNING + timedelta(hours=number))
    return Candidate(id=number, text=text, **fields)


def outcome(*candidates: Candidate) -> dict[int, int]:
    """The id of each superseded candidate with that of the newer one."""
    found = superseded((CACHE, each) for each in candidates)
    return {older[1]: newer[1] for older, newer in found.items()}


@pytest.mark.parametrize(("older", "newer"), REPLACED)
def test_a_newer_value_of_the_same_relation_supersedes(older: str, newer: str) -> None:
    assert outcome(candidate(1, older), candidate(2, newer)) == {1: 2}


@pytest.mark.parametrize(("older", "newer"), [*BOTH_HOLD, *NEAR, *(pair[::-1] for pair in NEAR)])
def test_what_holds_beside_the_older_supersedes_nothing(older: str, newer: str) -> None:
    assert outcome(candidate(1, older), candidate(2, newer)) == {}


@pytest.mark.parametrize(("older", "newer"), PARAPHRASED)
def test_a_newer_value_supersedes_in_other_words(older: str, newer: str) -> None:
    assert outcome(candidate(1, older), candidate(2, newer)) == {1: 2}


def test_the_newest_of_several_paraphrases_supersedes_all() -> None:
    texts = ("The lease is 80 s.", "The lease lasts 81 s.", "The lease is 82 s.", "The lease takes 83 s.")
    assert outcome(*(candidate(number, text) for number, text in enumerate(texts, 1))) == {1: 4, 2: 4, 3: 4}


def test_the_newest_of_a_chain_supersedes_all_that_came_before() -> None:
    chain = [candidate(number, f"The staging database is db-{number}.") for number in (1, 2, 3, 4)]
    assert outcome(*reversed(chain)) == {1: 4, 2: 4, 3: 4}


def test_a_value_that_returns_is_stated_by_its_newest_statement() -> None:
    first, second, third = (candidate(n, f"The port is {p}.") for n, p in ((1, 80), (2, 81), (3, 80)))
    assert outcome(first, second, third) == {1: 2, 2: 3}


def test_what_a_writer_has_ended_takes_nothings_place() -> None:
    """A correction may be dated before what it corrects arrived."""
    wrong = candidate(2, "The staging database is db-7.", superseded_by=1)
    assert outcome(candidate(1, "The staging database is db-9."), wrong) == {2: 1}
    older = candidate(0, "The staging database is db-5.")
    assert outcome(older, candidate(1, "The staging database is db-9."), wrong) == {2: 1, 0: 1}


def test_a_memory_that_is_stated_again_is_as_new_as_its_last_confirmation() -> None:
    again = candidate(1, "The port is 80.", confirmed_at=BEGINNING + timedelta(hours=3))
    assert outcome(again, candidate(2, "The port is 81.")) == {2: 1}
    before = candidate(1, "The port is 80.", confirmed_at=BEGINNING + timedelta(hours=1.5))
    assert outcome(before, candidate(2, "The port is 81.")) == {1: 2}


def test_the_time_of_the_event_decides_not_the_order_of_arrival() -> None:
    late = candidate(1, "The port is 81.", occurred_at=BEGINNING + timedelta(days=9))
    early = candidate(2, "The port is 80.", occurred_at=BEGINNING)
    assert outcome(late, early) == {2: 1}


def test_at_equal_times_the_later_write_is_the_newer() -> None:
    pair = [candidate(number, f"The port is {number}.", created_at=BEGINNING) for number in (1, 2)]
    assert outcome(*pair) == {1: 2}


@pytest.mark.parametrize(
    "other",
    [{"agent": "medic"}, {"user_id": "mia"}, {"scope": "mission:other"}, {"speaker": "Mia"}],
    ids=lambda other: next(iter(other)),
)
def test_nothing_is_superseded_across_agents_users_scopes_or_speakers(other: dict[str, str]) -> None:
    assert outcome(candidate(1, "The port is 80."), candidate(2, "The port is 81.", **other)) == {}


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ({}, {"source_kind": "document"}),
        ({"source_kind": "user"}, {"source_kind": "imported"}),
        ({"source_claim": "user"}, {"source_kind": "tool"}),
    ],
)
def test_the_less_trusted_supersedes_nothing_that_is_more_trusted(
    older: dict[str, str], newer: dict[str, str]
) -> None:
    pair = candidate(1, "The port is 80.", **older), candidate(2, "The port is 81.", **newer)
    assert outcome(*pair) == {}
    assert outcome(candidate(1, "The port is 80.", **newer), candidate(2, "The port is 81.", **older)) == {
        1: 2
    }


def test_an_item_that_says_more_is_not_superseded_but_may_supersede() -> None:
    more = "The port is 80. The host is gw-1."
    assert outcome(candidate(1, more), candidate(2, "The port is 81.")) == {}
    assert outcome(candidate(1, "The port is 81."), candidate(2, more)) == {1: 2}
