from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from functools import partial

import msgspec
import numpy as np
import pytest
from prometheus_client import REGISTRY

from shared.concurrency.tasks import background
from shared.errors import Unavailable
from shared.search.hot.copies import Copy, copy_of
from shared.search.hot.scopes import HotScopes, Key
from shared.search.hot.segments import Builder
from tests.support.calls import until

STARTED = datetime(2026, 1, 1, tzinfo=UTC)
MEGABYTE = 1024 * 1024


def metric(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(name, labels) or 0.0


class Clock:
    now = 1_000.0

    def __call__(self) -> float:
        return self.now


def copy(megabytes: float) -> Copy:
    empty = Builder().build()
    rows = (int(megabytes * MEGABYTE) - empty.size) // 8
    return copy_of([msgspec.structs.replace(empty, divisors=np.ones(rows))], (1, 1, []), STARTED)


def key(tenant: str, scope: str = "mission:m") -> Key:
    return Key("store", tenant, scope, "model")


async def ask(scopes: HotScopes, asked: Key, given: Copy | None) -> list[int]:
    """Asks twice, and waits until the copy that the question wants is there or refused. The budgets it was given."""
    budgets = list[int]()

    async def load(most: int) -> Copy | None:
        budgets.append(most)
        return given

    async with background(scopes.load_forever):
        scopes.ask(asked, load)
        scopes.ask(asked, load)

        async def loaded() -> None:
            assert budgets

        await until(loaded)
        await asyncio.sleep(0)
    return budgets


async def test_the_second_question_in_a_while_copies_a_scope() -> None:
    clock = Clock()
    scopes, loads = HotScopes(4, clock), 0

    async def load(_: int) -> Copy | None:
        nonlocal loads
        loads += 1
        return copy(1)

    async def copied() -> None:
        assert scopes.get(key("a")) is not None

    async with background(scopes.load_forever):
        for _ in range(2):
            scopes.ask(key("a"), load)
            clock.now += 301
        await asyncio.sleep(0)
        assert loads == 0
        scopes.ask(key("a"), load)
        scopes.ask(key("a"), load)
        await until(copied)
    assert loads == 1


async def test_ten_thousand_scopes_that_are_asked_once_take_no_room() -> None:
    scopes = HotScopes(1)

    async def load(_: int) -> Copy | None:
        raise AssertionError("nobody asked twice")

    for number in range(10_000):
        scopes.ask(key("a", f"mission:{number}"), load)
    assert scopes.bytes == 0


async def test_ten_thousand_scopes_that_are_asked_twice_stay_within_the_budget() -> None:
    scopes, held = HotScopes(4), list[int]()
    sizes = [copy(megabytes / 64) for megabytes in range(1, 33)]
    wanted = [key(f"tenant-{number % 7}", f"mission:{number}") for number in range(10_000)]

    async def load(number: int, _: int) -> Copy | None:
        held.append(scopes.bytes)
        return sizes[number % len(sizes)]

    async with background(scopes.load_forever):
        for number, each in enumerate(wanted):
            for _ in range(2):
                scopes.ask(each, partial(load, number))
            if number % 100 == 99:
                await until(partial(_counts, held, number + 1))
    assert 3 * MEGABYTE < max(held) <= 4 * MEGABYTE
    assert scopes.get(wanted[-1]) is not None
    assert metric("scrubjay_hot_bytes") == scopes.bytes
    assert 4 < metric("scrubjay_hot_scopes") < 256


async def _counts(held: list[int], loads: int) -> None:
    assert len(held) == loads


async def test_a_copy_that_nobody_asks_for_leaves_memory() -> None:
    clock = Clock()
    scopes = HotScopes(4, clock)
    given_up = metric("scrubjay_hot_evictions_total", reason="idle")
    for tenant in ("idle", "busy"):
        await ask(scopes, key(tenant), copy(1))
    clock.now += 299
    assert scopes.get(key("busy")) is not None
    clock.now += 2
    scopes.expire()
    assert scopes.get(key("idle")) is None
    assert scopes.get(key("busy")) is not None
    assert scopes.bytes == MEGABYTE
    assert metric("scrubjay_hot_evictions_total", reason="idle") == given_up + 1
    assert [*scopes._asked] == []


async def test_what_is_idle_is_given_up_without_a_question(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shared.search.hot.scopes._EXPIRE_EVERY_SECONDS", 0.01)
    clock = Clock()
    scopes = HotScopes(4, clock)
    await ask(scopes, key("idle"), copy(1))
    clock.now += 301

    async def gone() -> None:
        assert scopes.bytes == 0

    async with background(scopes.load_forever):
        await until(gone)


async def test_the_copies_never_exceed_the_budget() -> None:
    scopes = HotScopes(4)
    for number in range(12):
        await ask(scopes, key("a", f"mission:{number}"), copy(1))
        assert 0 < scopes.bytes <= 4 * MEGABYTE
    assert scopes.get(key("a", "mission:11")) is not None
    assert scopes.get(key("a", "mission:0")) is None


async def test_a_tenant_cannot_push_out_the_copies_of_another() -> None:
    scopes = HotScopes(4)
    await ask(scopes, key("small"), copy(1))
    for number in range(12):
        await ask(scopes, key("large", f"mission:{number}"), copy(1))
    assert scopes.get(key("small")) is not None


async def test_a_copy_that_nobody_asks_for_goes_first() -> None:
    clock = Clock()
    scopes = HotScopes(4, clock)
    await ask(scopes, key("idle"), copy(1))
    clock.now += 301
    for number in range(4):
        await ask(scopes, key("busy", f"mission:{number}"), copy(1))
    assert scopes.get(key("idle")) is None
    assert scopes.bytes == 4 * MEGABYTE


async def test_a_scope_that_is_too_large_is_not_read_again_at_once() -> None:
    clock = Clock()
    scopes = HotScopes(4, clock)
    assert await ask(scopes, key("a"), None) == [2 * MEGABYTE]

    async def load(_: int) -> Copy | None:
        raise AssertionError("it was refused")

    for _ in range(5):
        clock.now += 60
        scopes.ask(key("a"), load)
    assert not scopes._waiting


async def test_tenants_take_turns() -> None:
    clock, order = Clock(), list[Key]()
    scopes = HotScopes(4, clock)
    many = [key("many", f"mission:{number}") for number in range(60)]
    few = [key("few", f"mission:{number}") for number in range(2)]

    async def load(asked: Key, _: int) -> Copy | None:
        clock.now += 0.1
        order.append(asked)
        return copy(0.01)

    for asked in [*many, *few] * 2:
        scopes.ask(asked, partial(load, asked))

    async def loaded() -> None:
        # A tenant leaves places to others, and asks again.
        assert len(order) == 52

    async with background(scopes.load_forever):
        await until(loaded)
    assert [asked.tenant for asked in order[:5]] == ["many", "few", "many", "few", "many"]


async def test_what_is_not_read_in_time_leaves_others_their_turns() -> None:
    clock, loads = Clock(), 0
    scopes, slow = HotScopes(4, clock), key("acme")

    async def load(_: int) -> Copy | None:
        nonlocal loads
        loads += 1
        clock.now += 10
        raise Unavailable("postgres", "the database did not answer in time")

    async def loaded(count: int) -> None:
        assert loads == count

    async with background(scopes.load_forever):
        for count, seconds in ((1, 0), (1, 20), (2, 20)):
            clock.now += seconds
            scopes.ask(slow, load)
            scopes.ask(slow, load)
            await until(partial(loaded, count))
            await asyncio.sleep(0.01)
            assert loads == count


async def test_a_newer_copy_replaces_only_the_one_it_was_made_from() -> None:
    scopes = HotScopes(8)
    first, second, third = copy(1), copy(2), copy(3)
    await ask(scopes, key("a"), first)
    scopes.replace(key("a"), first, second)
    scopes.replace(key("a"), first, third)
    assert scopes.get(key("a")) is second
    assert scopes.bytes == 2 * MEGABYTE
    scopes.drop(key("a"))
    scopes.replace(key("a"), second, third)
    assert scopes.get(key("a")) is None
    assert scopes.bytes == 0


async def test_without_a_budget_nothing_is_copied() -> None:
    scopes = HotScopes(0)

    async def load(_: int) -> Copy | None:
        raise AssertionError("there is no room")

    for _ in range(3):
        scopes.ask(key("a"), load)
    assert not scopes._waiting
