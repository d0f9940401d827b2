from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from services.context.assembly.asking import NULL_NAMESPACE_BUDGET, resolve_budget
from services.context.assembly.queries import CallerConfig
from shared.packing import Packed, _Block, pack, pack_evenly, shorten, tokens_of_line
from shared.reading.excerpts import Passages, Wanted
from shared.render import Fence, render_item
from shared.tokens import estimate_tokens

FENCE = Fence(datetime(2026, 7, 4, 12, 0, tzinfo=UTC), "k3f")
# A header alone, then a word or two: enough for something of any text to stand in.
ROOM_FOR_A_WORD = 34


class Item(NamedTuple):
    store: str
    text: str
    worth: float = 1.0

    def shorten(self, characters: int) -> str:
        return shorten(self.text, characters)

    def render(self, text: str) -> str:
        return render_item(f"{self.store}:1", FENCE.now, ["intel"], text, FENCE)


PIECES = st.sampled_from(
    [
        "word ",
        "One sentence. ",
        "[cache:1 forged] ",
        "\n[",
        "\n",
        "x" * 90,
        "\\",
        "日本",
        "猫在地下室。" * 20,
        "แมวอยู่ ",
    ]
)
WANTED = Wanted({"sentenc": 2.0, "forg": 1.0, "地下": 1.0})
ITEMS = st.lists(
    st.builds(
        Item,
        st.sampled_from(["cache", "own", "peer"]),
        st.lists(PIECES, min_size=1, max_size=60).map("".join),
        st.floats(0, 1),
    ),
    max_size=8,
).map(lambda items: sorted(items, key=lambda item: -item.worth))

LONG = st.builds(
    Item, st.just("cache"), st.lists(PIECES, min_size=30, max_size=90).map("".join), st.just(1.0)
)


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
    items = [Item("cache", "c" * 300)] * 4 + [Item("own", "o" * 300)] * 4
    spent = [
        sum(one.tokens for one in pack(items, 4 * 87, shares) if items[one.place].store == "cache")
        for shares in ({}, {"cache": 0.3})
    ]
    assert spent[1] < spent[0] / 2


def test_what_no_other_store_wants_goes_to_the_one_over_its_share() -> None:
    items = [Item("cache", "c" * 400)] * 9
    taken = pack(items, 9 * 112, {"cache": 0.1})
    assert len(taken) == 9


def test_a_long_item_leaves_room_for_others_and_takes_what_they_leave() -> None:
    best = Item("cache", "The gateway answers on 8443. " * 20)
    long = Item("own", "It retries with a backoff. " * 20)
    taken = pack([best, *[long] * 20], 900, {})
    assert not taken[0].cut
    assert all(one.cut for one in taken[2:])
    assert len(taken) == 10
    assert [one.cut for one in pack([best, long], 900, {})] == [False, False]


def test_a_budget_smaller_than_the_best_item_still_returns_some_of_it() -> None:
    text = "The gateway answers on 8443. " + "It retries three times with a backoff. " * 40
    for budget in (ROOM_FOR_A_WORD, 40, 120, 300):
        taken = pack([Item("cache", text)], budget, {})
        assert [(one.place, one.cut) for one in taken] == [(0, True)]
        assert "] The gateway" in taken[0].rendered


SHORT_JUNK = [Item("cache", f"Note {n}: the canteen serves soup.", 0.4 - n / 100) for n in range(9)]


@pytest.mark.parametrize("budget", [40, 100, 200, 230])
def test_the_best_item_is_cut_to_fit_before_lesser_ones_are_taken(budget: int) -> None:
    best = Item("cache", "The gateway answers on 8443. It retries with a backoff. " * 16, 0.82)
    (taken,) = pack([best, *SHORT_JUNK], budget, {})
    assert (taken.place, taken.cut) == (0, True)
    assert taken.tokens > 0.75 * budget


def test_lesser_items_take_what_the_better_ones_leave() -> None:
    best = Item("cache", "The gateway answers on 8443. " * 8, 0.82)
    taken = pack([best, *SHORT_JUNK], 200, {})
    assert (taken[0].place, taken[0].cut) == (0, False)
    assert len(taken) > 5


def test_the_best_item_leaves_room_for_those_that_are_nearly_as_good() -> None:
    items = [Item("cache", "The gateway answers on 8443. " * 40, 0.9 - n / 100) for n in range(4)]
    taken = pack(items, 300, {})
    assert [one.place for one in taken][:3] == [0, 1, 2]
    assert taken[0].tokens > taken[1].tokens


@settings(deadline=None)
@given(ITEMS, st.integers(0, 1200))
def test_the_best_item_is_in_a_block_that_its_header_and_a_word_fit(items: list[Item], budget: int) -> None:
    taken = pack(items, budget, {})
    if items and items[0].text.split() and budget >= ROOM_FOR_A_WORD:
        assert taken[0].place == 0


@settings(deadline=None)
@given(ITEMS, st.integers(0, 1200))
@example([Item("cache", "word ", worth=0.0)], 11)
def test_nothing_is_cut_where_all_fit(items: list[Item], budget: int) -> None:
    whole = [tokens_of_line(item.render(item.text)) for item in items]
    if sum(whole) <= budget:
        assert [one.tokens for one in pack(items, budget, {})] == whole


class Excerpted(Item):
    def shorten(self, characters: int) -> str:
        return Passages(self.text, WANTED).excerpt(characters)


@settings(deadline=None, max_examples=300)
@given(
    ITEMS.flatmap(lambda items: st.tuples(*(st.sampled_from([item, Excerpted(*item)]) for item in items))),
    st.integers(-20, 60),
    st.dictionaries(st.sampled_from(["cache", "own"]), st.floats(0, 1)),
)
def test_what_fits_whole_is_taken_at_once_as_it_would_be_in_steps(
    items: Sequence[Item], more: int, shares: dict[str, float]
) -> None:
    budget = sum(tokens_of_line(item.render(item.text)) for item in items) + more
    with pytest.MonkeyPatch.context() as patch:
        at_once = pack(items, budget, shares)
        patch.setattr(_Block, "_take_all", lambda *_: False)
        assert pack(items, budget, shares) == at_once


def test_files_share_a_budget_evenly_and_short_ones_leave_room() -> None:
    long, short = Item("link", "word " * 400), Item("link", "short")
    taken = pack_evenly([long, short, long], 220)
    assert [(one.place, one.cut) for one in taken] == [(0, True), (1, False), (2, True)]
    assert sum(one.tokens for one in taken) <= 220
    assert abs(taken[0].tokens - taken[2].tokens) < 5
    assert taken[0].tokens > 90


@settings(deadline=None)
@given(ITEMS, st.integers(0, 1200))
def test_files_stay_within_their_budget_and_in_order(items: list[Item], budget: int) -> None:
    taken = pack_evenly(items, budget)
    assert sum(one.tokens for one in taken) <= budget
    assert [one.place for one in taken] == sorted({one.place for one in taken})


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
        ("一件事。另一件事情", 7, "一件事。"),
        ("一件事，另一件事情", 7, "一件事，"),
        ("ที่ที่ที่", 5, "ที่"),
        ("short", 5, "short"),
    ],
)
def test_cuts_are_at_the_end_of_a_sentence_or_a_word(text: str, characters: int, expected: str) -> None:
    assert shorten(text, characters) == expected


@pytest.mark.parametrize(
    ("asked", "namespace", "callers", "ceiling", "expected"),
    [
        (None, True, None, None, (4_000, "default")),
        (None, True, 5_000, None, (5_000, "caller")),
        (None, False, None, None, (NULL_NAMESPACE_BUDGET, "default")),
        (None, False, 5_000, None, (NULL_NAMESPACE_BUDGET, "default")),
        (None, False, 500, None, (500, "caller")),
        (9_000, False, None, None, (9_000, "request")),
        (9_000, True, None, 3_000, (3_000, "ceiling")),
        (None, True, None, 3_000, (3_000, "ceiling")),
        (20_000, True, None, None, (16_000, "ceiling")),
        (1, True, None, 3_000, (1, "request")),
    ],
)
def test_a_budget_is_what_was_asked_within_what_is_allowed(
    asked: int | None, namespace: bool, callers: int | None, ceiling: int | None, expected: tuple[int, str]
) -> None:
    config = CallerConfig({}, {}, callers, ceiling)
    assert resolve_budget(asked, namespace, config, 4_000, 16_000) == expected
