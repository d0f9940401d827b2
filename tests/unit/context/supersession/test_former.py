"""What a block's header says of the item that its own supersedes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

import scrubjay
from services.context.assembly.choice import Chosen, choose
from shared.render import Fence
from shared.search.evidence import Candidate
from shared.search.relevance import Scored
from tests.support.attacks.hostile import hostile, seen_headers

NOW = datetime(2026, 6, 1, tzinfo=UTC)
FENCE = Fence(NOW, "k3f")


def scored(number: int, text: str, relevance: float = 0.8, **more: Any) -> Scored:
    fields = {"scope": "mission:m", "kind": "intel", "agent": "scout", **more}
    fields.setdefault("created_at", NOW - timedelta(days=90 - number))
    candidate = Candidate(id=number, text=text, **fields)
    return Scored("psychic_cache", candidate, relevance, relevance, relevance, relevance)


def chosen(*found: Scored, tokens: int = 2000, **more: Any) -> Chosen:
    ordered = sorted(found, key=lambda each: -each.relevance)
    return choose(ordered, {}, {}, tokens, FENCE, **more)


def ports(*numbers: int, **more: Any) -> list[Scored]:
    return [scored(place, f"The port is {number}.", **more) for place, number in enumerate(numbers, 1)]


def headings(outcome: Chosen) -> dict[str, str]:
    return {item.handle: item.heading for item in scrubjay.parse_block(outcome.block, FENCE.nonce)}


def test_an_item_tells_what_it_supersedes() -> None:
    assert headings(chosen(*ports(80, 81))) == {"cache:2": "2026-03-05 intel scout was: 80"}


def test_only_the_newest_of_several_is_told_and_once() -> None:
    block = chosen(*ports(80, 81, 82, 83)).block
    assert block.count("was: ") == 1
    assert "was: 82 k3f]" in block


def test_a_value_that_returns_tells_what_came_between() -> None:
    assert "was: 81 k3f]" in chosen(*ports(80, 81, 80)).block


def test_what_is_not_near_the_best_is_not_told() -> None:
    older, newer = ports(80, 81)
    far = [older._replace(relevance=0.3), newer, scored(9, "Ports are open.", 0.28)]
    assert "was:" not in chosen(*far).block
    assert "was: 80" in chosen(*far, fill=True).block


def test_what_is_a_little_less_relevant_is_told() -> None:
    older, newer = ports(80, 81)
    assert "was: 80 k3f]" in chosen(older._replace(relevance=0.78), newer, scored(9, "The sea.", 0.2)).block


def test_what_holds_takes_the_place_of_what_it_supersedes() -> None:
    older = scored(1, "Mia lives in Oslo.", 0.8)
    newer = scored(2, "Mia has moved to Denver.", 0.2)
    other = scored(3, "Mia likes the sea.", 0.5)
    outcome = chosen(older, newer, other, fill=True)
    assert [placed.ranked.candidate.id for placed in outcome.taken] == [2, 3]
    first = outcome.taken[0].ranked
    assert first.relevance == 0.8
    assert first.score == pytest.approx(first.weight * first.relevance * first.recency * first.priority)


def test_what_the_item_says_itself_is_not_told_again() -> None:
    texts = ("The staging database is db-7.", "The staging database was moved from db-7 to db-9.")
    block = chosen(*(scored(place, text) for place, text in enumerate(texts, 1))).block
    assert "db-9" in block
    assert "was:" not in block


def test_a_trusted_header_tells_nothing_of_an_untrusted_source() -> None:
    older, newer = scored(1, "The port is 80.", source_kind="document"), scored(2, "The port is 81.")
    assert headings(chosen(older, newer)) == {"cache:2": "2026-03-05 intel scout"}


def test_a_long_text_that_a_write_supersedes_is_told_by_its_beginning() -> None:
    older = scored(1, "Use the replica in Lisbon for reports. " * 20, superseded_by=2)
    block = chosen(older, scored(2, "Use the replica in Oslo.")).block
    assert "was: Use the replica in Lisbon for reports.… k3f]" in block


@pytest.mark.parametrize("place", range(0, 600, 100))
def test_no_former_text_forges_a_header(place: int) -> None:
    for text in hostile(600)[place : place + 100]:
        older = scored(1, f"{text[:40]} {text}", superseded_by=2)
        outcome = chosen(older, scored(2, "The failover is manual."))
        assert list(seen_headers(outcome.block)) == ["cache:2"], repr(text)
        (item,) = scrubjay.parse_block(outcome.block, FENCE.nonce)
        assert (item.handle, item.text) == ("cache:2", "The failover is manual.")
        assert "\n" not in outcome.block


def test_a_block_with_former_values_stays_within_its_budget() -> None:
    for tokens in range(15, 60):
        outcome = chosen(*ports(80, 81), tokens=tokens)
        assert sum(placed.taken for placed in outcome.taken) <= tokens
