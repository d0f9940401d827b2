"""Objects that only refer to each other are freed, however few are made."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from shared.concurrency import garbage
from shared.concurrency.tasks import background
from tests.support.calls import until


class Ring:
    def __init__(self) -> None:
        self.itself = self


@pytest.fixture(autouse=True)
def no_looks_by_number() -> Iterator[None]:
    threshold = gc.get_threshold()
    gc.set_threshold(10**9, 10, 10)
    yield
    gc.set_threshold(*threshold)


@pytest.mark.parametrize("survived", [False, True])
async def test_what_only_refers_to_itself_is_freed(
    monkeypatch: pytest.MonkeyPatch, *, survived: bool
) -> None:
    """A full look finds what survived others while it was used."""
    monkeypatch.setattr(garbage, "LOOK_SECONDS", 0.01)
    monkeypatch.setattr(garbage, "FULL_LOOK", 3)
    ring = Ring()
    left = weakref.ref(ring)
    if survived:
        gc.collect()
    del ring

    async def freed() -> None:
        assert left() is None

    async with background(garbage.look_forever):
        await until(freed)
