"""Tenants take turns, in slices, small items before large ones."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pgvector import HalfVector

from shared.database.index_queue import IndexedStore, StoreStatements
from shared.database.index_turns import ROUND, SMALL_ITEMS, TENANTS, Item, Turns, small_items

STORE = IndexedStore(
    name="store",
    statements=StoreStatements(schema="s", items="i", chunks="c", vectors="v"),
    texts=lambda row: [],
)
VECTOR = HalfVector([0.0])


def item(tenant: str, number: int, *texts: str) -> Item:
    row: Any = {"tenant": tenant, "item_id": number}
    return Item(STORE, row, list(texts))


def large(tenant: str, number: int) -> Item:
    return item(tenant, number, *(["x" * 900] * 220))


def play(turns: Turns) -> dict[str, list[int]]:
    """Embeds a round. Answers the items that it completed, by tenant."""
    done: dict[str, list[int]] = {}
    for tenant, parts in turns.round().items():
        for part in parts:
            part.item.vectors += [VECTOR] * len(part.texts)
            if part.item.complete:
                done.setdefault(tenant, []).append(part.item.row["item_id"])
                turns.remove([part.item])
    return done


def test_a_small_item_of_another_tenant_is_done_in_the_first_round() -> None:
    turns = Turns()
    turns.add(large("flood", 1))
    turns.add(item("victim", 2, "a note"))
    assert play(turns) == {"victim": [2]}


def test_small_items_come_before_a_large_one_which_still_moves_on() -> None:
    turns = Turns()
    whole = large("t", 1)
    turns.add(whole)
    for number in range(2, 6):
        turns.add(item("t", number, "y" * 1_000))
    assert play(turns) == {"t": [2, 3, 4, 5]}
    assert len(whole.vectors) >= 1


def test_a_tenants_second_large_item_waits_in_the_queue() -> None:
    turns = Turns()
    assert turns.add(large("t", 1))
    assert not turns.add(large("t", 2))
    assert turns.add(large("other", 3))
    assert turns.add(large("t", 1)), "the same item, leased again"


def test_tenants_beyond_a_round_come_next() -> None:
    turns = Turns()
    for number in range(TENANTS + 1):
        turns.add(large(f"tenant {number}", number))
    first, second = turns.round(), turns.round()
    assert f"tenant {TENANTS}" not in first
    assert next(iter(second)) == f"tenant {TENANTS}"


def test_a_tenant_with_enough_items_leases_no_more() -> None:
    turns = Turns()
    for number in range(SMALL_ITEMS):
        turns.add(item("busy", number, "a"))
    turns.add(item("calm", 1, "a"))
    assert turns.full(SMALL_ITEMS) == ["busy"]


def test_a_fast_model_has_more_items_at_once() -> None:
    assert [small_items(seconds) for seconds in (1.0, 0.04, 0.02, 0.001, 0.0)] == [8, 8, 16, 32, 32]


def test_an_item_without_texts_is_complete() -> None:
    turns = Turns()
    turns.add(item("t", 1))
    assert play(turns) == {"t": [1]}
    assert list(turns) == []


@given(
    st.lists(
        st.tuples(st.sampled_from("abcdefghijkl"), st.lists(st.integers(1, 1_200), max_size=40)), max_size=40
    )
)
def test_everything_is_embedded_in_bounded_rounds(given: list[tuple[str, list[int]]]) -> None:
    turns = Turns()
    for number, (tenant, sizes) in enumerate(given):
        turns.add(item(tenant, number, *("x" * size for size in sizes)))
    expected = {each.row["item_id"] for each in turns}
    done: set[int] = set()
    for _ in range(10_000):
        if not list(turns):
            break
        parts = [part for own in turns.round().values() for part in own]
        assert parts
        # Each tenant may exceed its share by one text, and once more by one of a large item.
        assert sum(len(text) for part in parts for text in part.texts) <= ROUND + TENANTS * 2 * 1_200
        for part in parts:
            part.item.vectors += [VECTOR] * len(part.texts)
        complete = [part.item for part in parts if part.item.complete]
        done |= {each.row["item_id"] for each in complete}
        turns.remove(complete)
    assert done == expected
