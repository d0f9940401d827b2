"""Nobody else waits for an entry whose text is long, in whichever of its fields the text is."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from local.database import Database
from services.cache.entries import writing
from services.cache.entries.schemas import BatchInput, ThreadCheckpoint
from shared.concurrency import threads
from shared.concurrency.threads import SHORT, beside
from shared.deadline import Deadline
from tests.support.cache_services import cache_service, checkpoint, intel, principal

LONG = "a decision that nobody has taken " * 100


@pytest.fixture
def lengths(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What each work on entries says that it reads."""
    told: list[int] = []

    async def observed(length: int, *work: Any) -> Any:
        told.append(length)
        return await beside(length, *work)

    for module in (writing, threads):
        monkeypatch.setattr(module, "beside", observed)
    return told


def long_checkpoint(session: str) -> ThreadCheckpoint:
    one = checkpoint("long", "short", session)
    return msgspec.structs.replace(one, open_decisions=[LONG] * 5)


async def test_all_texts_of_an_entry_count(database: Database, redis_url: str, lengths: list[int]) -> None:
    async with cache_service(database, redis_url) as service:
        await service.writer.write(principal("long"), long_checkpoint("s"), None, Deadline(60))
    assert len(lengths) == 1
    assert lengths[0] >= 5 * len(LONG) > SHORT


async def test_a_batch_is_read_in_short_slices(
    database: Database, redis_url: str, lengths: list[int]
) -> None:
    """But for an entry that is long by itself."""
    entries = [intel("long", "a note of some words " * 10) for _ in range(99)]
    raw = [msgspec.Raw(msgspec.json.encode(entry)) for entry in entries]
    async with cache_service(database, redis_url) as service:
        short = await service.writer.write_batch(
            principal("long"), BatchInput(entries=raw), None, Deadline(60)
        )
        assert len(lengths) > 1
        assert max(lengths) <= SHORT
        lengths.clear()
        some = [*raw[:5], msgspec.Raw(msgspec.json.encode(long_checkpoint("t"))), *raw[:5]]
        mixed = await service.writer.write_batch(
            principal("long"), BatchInput(entries=some), None, Deadline(60)
        )
        assert sorted(length > SHORT for length in lengths) == [False, False, True]
        lengths.clear()
        many = [*raw[:80], *some]
        all_at_once = await service.writer.write_batch(
            principal("long"), BatchInput(entries=many), None, Deadline(60)
        )
    assert [short.written, mixed.written, all_at_once.written] == [99, 11, 91]
    assert len(lengths) == 1
    assert lengths[0] > 90 * 200 + 5 * len(LONG)
