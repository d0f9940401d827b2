"""The index gets the cores that nobody needs."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from shared.auth import Principal
from shared.concurrency.cores import cores
from shared.deadline import Deadline
from shared.embeddings import CachedEmbedder, local
from shared.embeddings.base import Kind, Urgency
from shared.embeddings.local import Embedded, LocalEmbedder, timed
from shared.embeddings.spare import SpareCores
from shared.search.evidence import SearchRequest, SearchResult
from shared.search.owner import OwnerSearch

PATIENCE = 30.0


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


class Texts:
    """Texts that hold their cores until they are told to end."""

    def __init__(self, spare: SpareCores) -> None:
        self._spare = spare
        self._tasks: list[asyncio.Task[None]] = []
        self._end: dict[str, asyncio.Event] = {}
        self.running: list[str] = []

    async def start(self, *names: str) -> None:
        for name in names:
            self._end[name] = asyncio.Event()
            self._tasks.append(asyncio.create_task(self._run(name)))
        await self._settle()

    async def end(self, name: str) -> None:
        self._end[name].set()
        await self._settle()

    async def stop(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _run(self, name: str) -> None:
        async with self._spare.core():
            self.running.append(name)
            await self._end[name].wait()
            self.running.remove(name)

    async def _settle(self) -> None:
        for _ in range(10):
            await asyncio.sleep(0)


@asynccontextmanager
async def opened(spare: SpareCores) -> AsyncIterator[Texts]:
    texts = Texts(spare)
    yield texts
    await texts.stop()


async def test_all_cores_work_while_each_thread_gets_a_whole_one() -> None:
    spare = SpareCores(2)
    spare.note(0.9, 1.0)
    async with opened(spare) as texts:
        await texts.start("a", "b", "c")
        assert texts.running == ["a", "b"]
        await texts.end("a")
        assert texts.running == ["b", "c"]


async def test_one_thread_works_while_somebody_needs_the_cores() -> None:
    clock = Clock()
    spare = SpareCores(4, clock)
    spare.note(0.5, 1.0)
    async with opened(spare) as texts:
        await texts.start("a", "b", "c")
        assert texts.running == ["a"]
        await texts.end("a")
        assert texts.running == ["b"]
        clock.now += 2
        await texts.start("d")
        assert sorted(texts.running) == ["b", "c", "d"]


async def test_one_thread_works_while_somebody_asks() -> None:
    clock = Clock()
    spare = SpareCores(4, clock)
    async with opened(spare) as texts:
        await texts.start("a", "b")
        spare.leave()
        await texts.start("c", "d")
        await texts.end("a")
        assert texts.running == ["b"]
        await texts.end("b")
        assert texts.running == ["c"]
        clock.now += 2
        await texts.end("c")
        await texts.start("e")
        assert texts.running == ["d", "e"]


def test_one_turn_of_the_interpreters_lock_is_no_competition() -> None:
    clock = Clock()
    spare = SpareCores(2, clock)
    spare.note(0.001, 0.006)
    spare.note(0.098, 0.1)
    assert not spare.alone
    spare.note(0.02, 0.06)
    assert spare.alone


async def test_a_text_that_nobody_waits_for_any_more_takes_no_core() -> None:
    spare = SpareCores(1)
    async with opened(spare) as texts:
        await texts.start("a")
        async with opened(spare) as cancelled:
            await cancelled.start("b")
        await texts.start("c")
        await texts.end("a")
        assert texts.running == ["c"]


@pytest.mark.parametrize(
    ("text", "most"), [("max 100000", None), ("150000 100000", 1), ("50000 100000", 1), ("broken", None)]
)
def test_a_containers_limit_bounds_the_cores(tmp_path: Path, text: str, most: int | None) -> None:
    quota = tmp_path / "cpu.max"
    quota.write_text(text)
    assert cores(quota) == (most or cores(tmp_path / "missing"))


class Held:
    """A model whose long texts wait at a gate."""

    name, width, dedup_distance = "held", 384, 0.05

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.begun = threading.Semaphore(0)

    def embed(self, text: str, kind: Any) -> Embedded:
        if text.startswith("long"):
            self.begun.release()
            self.gate.wait(PATIENCE)
        return Embedded(np.ones(384, np.float32), 1)

    async def has_begun(self, count: int) -> None:
        for _ in range(count):
            assert await asyncio.to_thread(self.begun.acquire, timeout=PATIENCE)


async def test_what_an_agent_has_just_written_does_not_wait_behind_the_backlog() -> None:
    model = Held()
    embedder = LocalEmbedder(model, threads=2)
    backlog = asyncio.create_task(
        embedder.embed(["long a", "long b", "long c"], "document", urgency="backlog")
    )
    await model.has_begun(2)
    async with asyncio.timeout(PATIENCE):
        assert len(await embedder.embed(["fresh"], "document", urgency="fresh")) == 1
        assert len(await embedder.embed(["a question"], "query")) == 1
    assert not backlog.done()
    model.gate.set()
    assert len(await backlog) == 3
    await embedder.close()


async def _embeds(embedder: LocalEmbedder) -> None:
    await embedder.embed(["a question"], "query")


async def _brings_its_vector(embedder: LocalEmbedder) -> None:
    async def search(*_: Any) -> SearchResult:
        return SearchResult([], {})

    asked = CachedEmbedder(embedder).leave_cores
    request = SearchRequest(query="a question", stores={"store": []})
    await OwnerSearch("owner", {"store": search}, asked=asked).search(
        Principal("acme", "key", frozenset()), request, Deadline(PATIENCE)
    )


@pytest.mark.parametrize("question", [_embeds, _brings_its_vector])
async def test_a_question_leaves_the_backlog_a_single_thread(
    question: Callable[[LocalEmbedder], Awaitable[None]],
) -> None:
    model = Held()
    embedder = LocalEmbedder(model, threads=2)
    await question(embedder)
    backlog = asyncio.create_task(embedder.embed(["long a", "long b"], "document", urgency="backlog"))
    await model.has_begun(1)
    assert not model.begun.acquire(blocking=False)
    model.gate.set()
    assert len(await backlog) == 2
    await embedder.close()


class Slow(Held):
    """Each of its texts takes a while."""

    def embed(self, text: str, kind: Any) -> Embedded:
        time.sleep(0.02)
        return super().embed(text, kind)


@pytest.mark.parametrize(("processors", "rest"), [(2, 3), (4, 1), (8, 1)])
async def test_while_somebody_asks_the_backlog_rests_at_least_as_long_as_it_works(
    monkeypatch: pytest.MonkeyPatch, processors: int, rest: int
) -> None:
    monkeypatch.setattr(local, "cores", lambda: processors)
    embedder, begun = LocalEmbedder(Slow()), time.monotonic()
    embedder.leave_cores()
    await embedder.embed(["a", "b", "c"], "document", urgency="backlog")
    assert time.monotonic() - begun >= (1 + rest) * 3 * 0.02
    await embedder.close()


@pytest.mark.parametrize(
    ("kind", "urgency", "there"),
    [
        ("document", "backlog", True),
        ("document", "asked", False),
        ("document", "fresh", False),
        ("query", "asked", False),
    ],
)
async def test_only_the_backlog_is_embedded_elsewhere(kind: Kind, urgency: Urgency, there: bool) -> None:
    here, elsewhere = Held(), Held()
    embedder = LocalEmbedder(here, elsewhere=partial(timed, elsewhere))
    used, unused = (elsewhere, here) if there else (here, elsewhere)
    used.gate.set()
    assert len(await embedder.embed(["long a", "long b"], kind, urgency=urgency)) == 2
    await used.has_begun(2)
    assert not unused.begun.acquire(blocking=False)
    await embedder.close()


async def test_a_batch_that_a_request_waits_for_does_not_wait_for_the_backlog() -> None:
    here, elsewhere = Held(), Held()
    here.gate.set()
    embedder = LocalEmbedder(here, elsewhere=partial(timed, elsewhere))
    backlog = asyncio.create_task(embedder.embed(["long a", "long b"], "document", urgency="backlog"))
    await elsewhere.has_begun(1)
    async with asyncio.timeout(PATIENCE):
        assert len(await embedder.embed(["long c", "long d"], "document")) == 2
    assert not backlog.done()
    elsewhere.gate.set()
    assert len(await backlog) == 2
    await embedder.close()
