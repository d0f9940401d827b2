"""Items that say the same stand in a block once, and nobody's word stands for another's."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from services.context.assembly.choice import Chosen, choose
from services.context.assembly.ranking import Ranked, rank
from services.context.assembly.record import logged
from services.context.assembly.supersession.repeats import without_alike, without_equal
from services.context.stores import CACHE, OWN, PEERS, Store
from shared.render import Fence, parse_block
from shared.search.evidence import Candidate
from shared.search.relevance import Scored

NOW = datetime(2026, 7, 4, 12, 0, tzinfo=UTC)
FENCE = Fence(NOW, "k3f")
TEXT = "The gateway of the billing service listens on port 8443 behind the proxy of the second zone."


def scored(id_: int, text: str = TEXT, relevance: float = 0.9, store: Store = CACHE, **more: Any) -> Scored:
    given = {"scope": "mission:m", "kind": "intel", "created_at": NOW, "agent": "scout", **more}
    return Scored(store.name, Candidate(id=id_, text=text, **given), 0.5, 0.5, relevance, relevance)


def ranked(*candidates: Scored) -> list[Ranked]:
    return rank(candidates, {}, NOW)


def ids(kept: list[Ranked]) -> list[int]:
    return sorted(each.candidate.id for each in kept)


def block(*candidates: Scored) -> Chosen:
    return choose(candidates, {}, {}, 4_000, FENCE, fill=True)


def test_the_same_text_from_two_stores_counts_once_where_it_is_worth_most() -> None:
    twice = ranked(
        scored(1, "Port 8443 is  OPEN", store=PEERS),
        scored(2, "port 8443 is open", store=OWN),
        scored(3, "something else", 0.2),
    )
    kept, repeats = without_equal(twice)
    assert [one.candidate.id for one in kept] == [2, 3]
    assert [(one.ranked.candidate.id, one.of.candidate.id) for one in repeats] == [(1, 2)]


@pytest.mark.parametrize(
    "text",
    [
        "the gateway of the billing service listens on port 8443, behind the proxy of the second zone!",
        "Gateways of the billing services listen on port 8443 behind proxy of second zone",
        "- The gateway of the *billing service* listens: port 8443 behind the proxy of the second zone.",
    ],
)
def test_nearly_the_same_words_of_one_author_count_once(text: str) -> None:
    chosen = block(scored(1), scored(2, text, 0.8), scored(3, TEXT.lower(), 0.7))
    (placed,) = chosen.taken
    assert (placed.ranked.candidate.id, sorted(one.candidate.id for one in placed.repeats)) == (1, [2, 3])
    assert chosen.block == f"[cache:1 2026-07-04 12:00 intel scout ×3 k3f] {TEXT}"
    assert parse_block(chosen.block) == [("cache:1", TEXT)]
    outcomes = {one.handle: (one.outcome, one.same_as) for one in logged(chosen)}
    assert outcomes == {
        "cache:1": ("taken", None),
        "cache:2": ("repeat", "cache:1"),
        "cache:3": ("repeat", "cache:1"),
    }


def test_a_longer_wording_stands_for_a_shorter_one_and_not_the_reverse() -> None:
    longer = f"Reminder: {TEXT}"
    assert ids(without_alike(ranked(scored(1, longer, 0.9), scored(2, TEXT, 0.8)), []).kept) == [1]
    assert ids(without_alike(ranked(scored(1, longer, 0.8), scored(2, TEXT, 0.9)), []).kept) == [1, 2]


@pytest.mark.parametrize(
    "text",
    [
        TEXT.replace("8443", "8444"),
        TEXT.replace("billing", "search"),
        TEXT.replace("behind", "not behind"),
        TEXT.replace("listens", "never listens"),
        TEXT.replace("listens", "listened"),
        TEXT.replace("second zone", "second zone until Monday"),
        TEXT.replace("gateway", "proxy", 1).replace("the proxy of the second", "the gateway of the second"),
        TEXT.replace(".", "?"),
        TEXT.replace("8443", "< 8443"),
    ],
)
@pytest.mark.parametrize("best", [1, 2])
def test_what_differs_in_what_it_says_stays(text: str, best: int) -> None:
    both = ranked(scored(1, TEXT, 0.9 if best == 1 else 0.8), scored(2, text, 0.9 if best == 2 else 0.8))
    assert ids(without_alike(both, []).kept) == [1, 2]


@pytest.mark.parametrize(
    "other",
    [
        {"user_id": "lea"},
        {"source_kind": "document"},
        {"source_kind": "tool"},
        {"source_claim": "user"},
    ],
)
@pytest.mark.parametrize("text", [TEXT, TEXT.lower(), f"{TEXT} "])
def test_no_item_stands_for_another_user_or_another_trust(other: dict[str, Any], text: str) -> None:
    none: dict[str, Any] = {}
    for first, second in ((none, other), (other, none)):
        chosen = block(scored(1, **first), scored(2, text, 0.8, **second))
        assert ids([one.ranked for one in chosen.taken]) == [1, 2]
        assert "×" not in chosen.block


def test_other_wordings_are_their_authors_own() -> None:
    wording = TEXT.replace("The gateway", "Gateway")
    others: list[dict[str, Any]] = [{"agent": "medic"}, {"speaker": "Lea"}, {"scope": "mission:other"}]
    for other in others:
        assert ids(without_alike(ranked(scored(1), scored(2, wording, 0.8, **other)), []).kept) == [1, 2]


def test_a_header_names_the_others_who_wrote_the_same() -> None:
    names = ["scout", "scout", "medic", "a]b", "wren", "kite", "jay"]
    chosen = block(*(scored(n, agent=name, relevance=0.9 - n / 100) for n, name in enumerate(names, 1)))
    (placed,) = chosen.taken
    assert chosen.block.startswith(
        "[cache:1 2026-07-04 12:00 intel scout ×7 also medic, a b, wren and 2 more k3f] "
    )
    assert len(placed.repeats) == 6
    assert parse_block(chosen.block) == [("cache:1", TEXT)]


def test_what_equals_a_repeat_is_a_repeat_of_what_is_kept() -> None:
    wording = TEXT.replace("The gateway", "Gateway")
    chosen = block(scored(1), scored(2, wording, 0.8), scored(3, wording, 0.7, agent="medic"))
    (placed,) = chosen.taken
    assert sorted(one.candidate.id for one in placed.repeats) == [2, 3]
    assert " ×3 also medic k3f]" in chosen.block


def test_chunks_of_one_item_are_not_counted_as_items() -> None:
    chosen = block(scored(1, chunks=2), scored(1, chunks=2, chunk=1))
    assert "×" not in chosen.block


LISTING = "     7→def trim(tools):\n     8→    return [tool for tool in tools if tool]\n"
COPY = "def trim(tools):\n    return [tool for tool in tools if tool]\n"


def lines_of_others(*found: Scored) -> list[tuple[int, int]]:
    """The ids of repeats, each with the id of what it repeats."""
    distinct = without_equal(ranked(*found))
    return [(one.ranked.candidate.id, one.of.candidate.id) for one in distinct.repeats]


@pytest.mark.parametrize(
    "copy",
    [COPY, COPY.replace("\n", "\\n"), "+" + COPY.replace("\n", "\n+")[:-1], LISTING.replace("7→", "17→")],
)
def test_a_step_that_shows_only_lines_of_a_better_one_repeats_it(copy: str) -> None:
    source = scored(1, f"[File: a.py]\n{LISTING}", 0.9, step="read")
    assert lines_of_others(source, scored(2, copy, 0.5, step="run")) == [(2, 1)]
    own = scored(2, f"{copy}\n345", 0.5, step="run")
    assert lines_of_others(source, own) == [], "one line of its own keeps it"


def test_lines_of_two_better_steps_repeat_the_one_that_shows_most() -> None:
    first = scored(1, "a = 1", 0.9, step="read")
    second = scored(2, "b = 2\nc = 3", 0.8, step="read")
    assert lines_of_others(first, second, scored(3, "a = 1\nb = 2\nc = 3", 0.5, step="diff")) == [(3, 2)]


@pytest.mark.parametrize(
    "better",
    [{"step": None}, {"step": "read", "source_kind": "tool"}, {"step": "read", "user_id": "mia"}],
)
def test_prose_other_users_and_what_is_trusted_less_hide_no_step(better: dict[str, Any]) -> None:
    source = scored(1, f"[File: a.py]\n{LISTING}", 0.9, **better)
    assert lines_of_others(source, scored(2, COPY, 0.5, step="run")) == []


def test_prose_that_another_text_holds_line_by_line_stays() -> None:
    long, short = scored(1, "Hello Ana.\nThanks!", 0.9), scored(2, "Thanks!", 0.5)
    assert lines_of_others(long, short) == []


def test_another_authors_copy_does_not_part_what_one_author_wrote() -> None:
    wording = TEXT.replace("The gateway", "Gateway")
    chosen = block(scored(1, agent="medic"), scored(2, relevance=0.8), scored(3, wording, 0.7))
    (placed,) = chosen.taken
    assert sorted(one.candidate.id for one in placed.repeats) == [2, 3]
    assert " medic ×3 also scout k3f]" in chosen.block
