from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime
from typing import NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from services.context.assembly.asking import NULL_NAMESPACE_BUDGET, resolve_budget
from shared.packing import Packed, pack, shorten
from shared.render import render_item
from shared.tokens import estimate_tokens

NOW = datetime(2026, 7, 4, 12, 0, tzinfo=UTC)
# Headers alone, then a word or two: enough for something of any text to stand in.
ROOM_FOR_A_WORD = 20


class Item(NamedTuple):
    store: str
    text: str

    def render(self, text: str) -> str:
        return render_item(f"{self.store}:1", NOW, ["intel"], text, NOW)


PIECES = st.sampled_from(
    ["word ", "One sentence. ", "[cache:1 forged] ", "\n[", "\n", "x" * 90, "\\", "日本"]
)
ITEMS = st.lists(
    st.builds(
        Item,
        st.sampled_from(["cache", "own", "peer"]),
        st.lists(PIECES, min_size=1, max_size=60).map("".join),
    ),
    max_size=8,
)

LONG = st.builds(Item, st.just("cache"), st.lists(PIECES, min_size=30, max_size=90).map("".join))


def block(taken: list[Packed]) -> str:
    return "\n".join(one.rendered for one in taken)


@settings(deadline=None)
@given(ITEMS, st.integers(0, 1200))
def test_a_block_never_exceeds_its_budget(items: list[Item], budget: int) -> None:
    taken = pack(items, budget, {})
    assert estimate_tokens(block(taken)) <= budget or not taken
    assert sum(one.tokens for one in taken) <= budget


@settings(deadline=None)
@given(st.lists(LONG, min_size=1, max_size=3), st.integers(ROOM_FOR_A_WORD, 1200))
def test_something_is_returned_when_anything_could_fit(items: list[Item], budget: int) -> None:
    taken = pack(items, budget, {})
    assert taken


@settings(deadline=None)
@given(ITEMS, st.integers(0, 1200))
def test_an_item_is_taken_once_at_most_and_in_the_order_of_worth(items: list[Item], budget: int) -> None:
    places = [one.place for one in pack(items, budget, {})]
    assert places == sorted(set(places))
    assert set(places) <= set(range(len(items)))


@settings(deadline=None)
@given(ITEMS, st.integers(0, 1200))
def test_what_is_cut_is_marked_and_the_rest_is_whole(items: list[Item], budget: int) -> None:
    for one in pack(items, budget, {}):
        whole = items[one.place].render(items[one.place].text)
        assert one.cut == (one.rendered != whole)
        assert not one.cut or one.rendered.endswith(" […]")
        assert not one.cut or whole.startswith(one.rendered.removesuffix(" […]").rstrip())


def test_one_store_leaves_room_for_the_others() -> None:
    items = [*[Item("cache", "c" * 400)] * 9, Item("own", "o" * 400)]
    taken = pack(items, 9 * 112, {})
    assert "own" in {items[one.place].store for one in taken}


def test_a_caller_may_give_a_store_less() -> None:
    items = [Item("cache", "c" * 400)] * 4 + [Item("own", "o" * 400)] * 4
    taken = pack(items, 4 * 112, {"cache": 0.3})
    assert Counter(items[one.place].store for one in taken) == {"cache": 1, "own": 3}


def test_what_no_other_store_wants_goes_to_the_one_over_its_share() -> None:
    items = [Item("cache", "c" * 400)] * 9
    taken = pack(items, 9 * 112, {"cache": 0.1})
    assert len(taken) == 9


def test_a_budget_smaller_than_the_best_item_still_returns_some_of_it() -> None:
    text = "The gateway answers on 8443. " + "It retries three times with a backoff. " * 40
    for budget in (ROOM_FOR_A_WORD, 40, 120, 300):
        taken = pack([Item("cache", text)], budget, {})
        assert [(one.place, one.cut) for one in taken] == [(0, True)]
        assert "] The gateway" in taken[0].rendered


def test_escapes_do_not_cost_an_item_its_place() -> None:
    taken = pack([Item("cache", "\n[" * 400)], 150, {})
    assert len(taken) == 1


@settings(deadline=None)
@given(st.lists(PIECES, max_size=40).map("".join), st.integers(1, 400))
def test_a_shortened_text_is_a_beginning_of_it(text: str, characters: int) -> None:
    short = shorten(text, characters)
    assert text.startswith(short)
    assert len(short) <= characters
    assert short or not text


@pytest.mark.parametrize(
    ("text", "characters", "expected"),
    [
        ("One thing. Another thing.", 18, "One thing."),
        ("First line\nsecond line", 15, "First line"),
        ("one two three four", 10, "one two"),
        ("onetwothree", 5, "onetw"),
        ("short", 5, "short"),
    ],
)
def test_cuts_are_at_the_end_of_a_sentence_or_a_word(text: str, characters: int, expected: str) -> None:
    assert shorten(text, characters) == expected


@pytest.mark.parametrize(
    ("asked", "namespace", "default", "ceiling", "expected"),
    [
        (None, True, 4_000, None, 4_000),
        (None, False, 4_000, None, NULL_NAMESPACE_BUDGET),
        (None, False, 500, None, 500),
        (9_000, False, 4_000, None, 9_000),
        (9_000, True, 4_000, 3_000, 3_000),
        (None, True, 4_000, 3_000, 3_000),
        (20_000, True, 4_000, None, 16_000),
        (1, True, 4_000, 3_000, 1),
    ],
)
def test_a_budget_is_what_was_asked_within_what_is_allowed(
    asked: int | None, namespace: bool, default: int, ceiling: int | None, expected: int
) -> None:
    assert resolve_budget(asked, namespace, default, ceiling, 16_000) == expected
