from __future__ import annotations

import asyncio
from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from shared.embeddings import CachedEmbedder, EmbedderUnavailable, Kind, Vectors
from shared.embeddings import cache as cache_module
from shared.embeddings.base import DIM, Urgency
from shared.embeddings.cache import cache_key


class Gated:
    """An embedder that answers when its gate is open, and fails when told to."""

    model = "gated"
    dedup_distance = 0.1

    def __init__(self) -> None:
        self.calls: list[list[str]] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.error: Exception | None = None

    async def embed(self, texts: Sequence[str], kind: Kind, *, urgency: Urgency = "asked") -> Vectors:
        self.calls.append(list(texts))
        await self.gate.wait()
        if self.error is not None:
            raise self.error
        return np.stack([vector(text) for text in texts])

    async def close(self) -> None: ...


def vector(text: str) -> NDArray[np.float32]:
    out = np.zeros(DIM, np.float32)
    out[sum(text.encode()) % DIM] = 1
    return out


async def pending(inner: Gated, calls: int) -> None:
    while len(inner.calls) < calls:
        await asyncio.sleep(0)


async def test_a_text_is_embedded_once_and_answers_keep_their_order() -> None:
    inner = Gated()
    cached = CachedEmbedder(inner)
    await cached.embed(["b"], "document", "t")
    vectors = await cached.embed(["a", "b", "a", "c"], "document", "t")
    assert inner.calls == [["b"], ["a", "c"]]
    np.testing.assert_array_equal(vectors, np.stack([vector(text) for text in "abac"]))


async def test_no_tenant_finds_what_another_left() -> None:
    """Not even while it is being embedded: a shared wait tells as much as a fast answer."""
    inner = Gated()
    cached = CachedEmbedder(inner)
    inner.gate.clear()
    first = asyncio.create_task(cached.embed(["is the merger off?"], "query", "victim"))
    await pending(inner, 1)
    second = asyncio.create_task(cached.embed(["is the merger off?"], "query", "guesser"))
    await pending(inner, 2)
    inner.gate.set()
    await asyncio.gather(first, second)
    await cached.embed(["is the merger off?"], "query", "another")
    assert inner.calls == [["is the merger off?"]] * 3


async def test_kinds_are_apart() -> None:
    inner = Gated()
    cached = CachedEmbedder(inner)
    await cached.embed(["a"], "document", "t")
    await cached.embed(["a"], "query", "t")
    assert len(inner.calls) == 2


async def test_the_oldest_unused_vector_goes_first() -> None:
    inner = Gated()
    cached = CachedEmbedder(inner, size=2)
    for text in ["a", "b", "a", "c", "a", "b"]:
        await cached.embed([text], "query", "t")
    assert inner.calls == [["a"], ["b"], ["c"], ["b"]]


async def test_callers_cannot_change_what_is_remembered() -> None:
    cached = CachedEmbedder(Gated())
    first = await cached.embed(["a"], "query", "t")
    first[:] = 7
    np.testing.assert_array_equal((await cached.embed(["a"], "query", "t"))[0], vector("a"))


async def test_no_texts_no_call() -> None:
    inner = Gated()
    assert (await CachedEmbedder(inner).embed([], "query", "t")).shape == (0, DIM)
    assert inner.calls == []


async def test_texts_in_flight_are_shared() -> None:
    inner = Gated()
    inner.gate.clear()
    cached = CachedEmbedder(inner)
    first = asyncio.create_task(cached.embed(["a", "b"], "query", "t"))
    await pending(inner, 1)
    second = asyncio.create_task(cached.embed(["b", "c"], "query", "t"))
    await pending(inner, 2)
    inner.gate.set()
    await asyncio.gather(first, second)
    assert inner.calls == [["a", "b"], ["c"]]


async def test_a_cancelled_caller_takes_nothing_from_the_others() -> None:
    inner = Gated()
    inner.gate.clear()
    cached = CachedEmbedder(inner)
    first = asyncio.create_task(cached.embed(["a"], "query", "t"))
    await pending(inner, 1)
    second = asyncio.create_task(cached.embed(["a"], "query", "t"))
    await asyncio.sleep(0)
    first.cancel()
    inner.gate.set()
    np.testing.assert_array_equal((await second)[0], vector("a"))
    assert first.cancelled() or first.cancelling()
    assert len(inner.calls) == 1


async def test_a_failure_reaches_every_waiter_and_is_not_remembered() -> None:
    inner = Gated()
    inner.error = EmbedderUnavailable("dead")
    inner.gate.clear()
    cached = CachedEmbedder(inner)
    waiters = [asyncio.create_task(cached.embed(["a"], "query", "t")) for _ in range(3)]
    await pending(inner, 1)
    inner.gate.set()
    results = await asyncio.gather(*waiters, return_exceptions=True)
    assert all(isinstance(result, EmbedderUnavailable) for result in results)
    inner.error = None
    await cached.embed(["a"], "query", "t")
    assert len(inner.calls) == 2


async def test_closing_fails_who_waits() -> None:
    inner = Gated()
    inner.gate.clear()
    cached = CachedEmbedder(inner)
    waiter = asyncio.create_task(cached.embed(["a"], "query", "t"))
    await pending(inner, 1)
    await cached.close()
    with pytest.raises(EmbedderUnavailable):
        await waiter


async def test_the_second_level_is_read_before_and_written_after() -> None:
    table: dict[bytes, NDArray[np.float32]] = {cache_key("t", "gated", "query", "a"): vector("z")}
    stored = asyncio.Event()

    async def load(tenant: str, keys: list[bytes]) -> dict[bytes, NDArray[np.float32]]:
        return {key: table[key] for key in keys if key in table}

    async def store(tenant: str, made: dict[bytes, NDArray[np.float32]]) -> None:
        table.update(made)
        stored.set()

    inner = Gated()
    cached = CachedEmbedder(inner, load=load, store=store)
    vectors = await cached.embed(["a", "b"], "query", "t")
    await stored.wait()
    assert inner.calls == [["b"]]
    np.testing.assert_array_equal(vectors, np.stack([vector("z"), vector("b")]))
    assert set(table) == {cache_key("t", "gated", "query", text) for text in "ab"}


async def test_documents_are_not_stored_a_second_time() -> None:
    asked: list[str] = []

    async def load(tenant: str, keys: list[bytes]) -> dict[bytes, NDArray[np.float32]]:
        asked.append("load")
        return {}

    async def store(tenant: str, made: dict[bytes, NDArray[np.float32]]) -> None:
        asked.append("store")

    inner = Gated()
    cached = CachedEmbedder(inner, load=load, store=store)
    for _ in range(2):
        await cached.embed(["a"], "document", "t", urgency="backlog")
    assert inner.calls == [["a"]]
    await cached.close()
    assert asked == []


async def test_a_failing_second_level_fails_nothing() -> None:
    async def load(tenant: str, keys: list[bytes]) -> dict[bytes, NDArray[np.float32]]:
        raise ConnectionError

    async def store(tenant: str, made: dict[bytes, NDArray[np.float32]]) -> None:
        raise ConnectionError

    cached = CachedEmbedder(Gated(), load=load, store=store)
    np.testing.assert_array_equal((await cached.embed(["a"], "query", "t"))[0], vector("a"))
    await cached.close()


async def test_a_stalled_second_level_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache_module, "_LOAD_SECONDS", 0.01)

    async def load(tenant: str, keys: list[bytes]) -> dict[bytes, NDArray[np.float32]]:
        await asyncio.Event().wait()
        raise AssertionError

    cached = CachedEmbedder(Gated(), load=load)
    np.testing.assert_array_equal((await cached.embed(["a"], "query", "t"))[0], vector("a"))


async def test_vectors_of_another_shape_are_not_taken_from_the_second_level() -> None:
    async def load(tenant: str, keys: list[bytes]) -> dict[bytes, NDArray[np.float32]]:
        return {key: np.ones(3, np.float32) for key in keys}

    cached = CachedEmbedder(Gated(), load=load)
    np.testing.assert_array_equal((await cached.embed(["a"], "query", "t"))[0], vector("a"))
