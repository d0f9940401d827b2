"""A model in this process: no key, no network."""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from shared.concurrency.cores import cores, rest_on
from shared.concurrency.priority import lower_thread
from shared.embeddings.base import CALLS, TEXTS, TOKENS, Kind, OnUsage, Urgency, Vectors, unit_rows
from shared.embeddings.spare import SpareCores
from shared.settings import SettingsError

# A text of 512 tokens takes the model a hundred times as long as a short question.
_SHORT_CHARS = 1_000
# On a busy machine, threads with higher values get less of a processor.
_LONG_NICE, _FRESH_NICE, _BULK_NICE = 5, 5, 10


class Embedded(NamedTuple):
    """A text's vector, and how many tokens the model read."""

    vector: NDArray[np.float32]
    tokens: int


class LocalModel(Protocol):
    """Several threads call it at once."""

    @property
    def name(self) -> str: ...

    @property
    def width(self) -> int:
        """The length of its vectors."""

    @property
    def dedup_distance(self) -> float: ...

    def embed(self, text: str, kind: Kind) -> Embedded: ...


class Timed(NamedTuple):
    """A text's vector, and the seconds of processor time and of the clock that it took."""

    embedded: Embedded
    processor: float
    wall: float


def timed(model: LocalModel, text: str, kind: Kind) -> Timed:
    wall, processor = time.perf_counter(), time.thread_time()
    embedded = model.embed(text, kind)
    return Timed(embedded, time.thread_time() - processor, time.perf_counter() - wall)


class LocalEmbedder:
    """`elsewhere` embeds the index's backlog, perhaps in another process; a thread waits for it."""

    def __init__(
        self,
        model: LocalModel,
        threads: int = 1,
        dedup_distance: float | None = None,
        on_usage: OnUsage | None = None,
        elsewhere: Callable[[str, Kind], Timed] | None = None,
    ) -> None:
        self.model = model.name
        self.dedup_distance = model.dedup_distance if dedup_distance is None else dedup_distance
        self._model, self._on_usage = model, on_usage
        self._in_thread = partial(timed, model)
        self._elsewhere = elsewhere or self._in_thread
        # Five lanes, so that a short text waits neither behind a long one nor behind a batch, and none for the index.
        self._short: Executor = ThreadPoolExecutor(1, "embed-short")
        self._long: Executor = ThreadPoolExecutor(1, "embed-long", lower_thread, (_LONG_NICE,))
        self._fresh: Executor = ThreadPoolExecutor(1, "embed-fresh", lower_thread, (_FRESH_NICE,))
        self._batch: Executor = ThreadPoolExecutor(threads, "embed-batch", lower_thread, (_BULK_NICE,))
        self._backlog: Executor = ThreadPoolExecutor(threads, "embed-backlog", lower_thread, (_BULK_NICE,))
        self._lanes = (self._short, self._long, self._fresh, self._batch, self._backlog)
        # Nobody waits for the backlog.
        self._backlog_rest = max(1.0, rest_on(cores()))
        self._batch_cores, self._backlog_cores = SpareCores(threads), SpareCores(threads)

    async def embed(self, texts: Sequence[str], kind: Kind, *, urgency: Urgency = "asked") -> Vectors:
        loop = asyncio.get_running_loop()
        if kind == "query":
            self.leave_cores()
        lane = self._lane(texts, kind, urgency)
        if lane is self._batch:
            results = await self._with_cores(self._batch_cores, lane, self._in_thread, texts, kind, 1.0)
        elif lane is self._backlog:
            results = await self._with_cores(
                self._backlog_cores, lane, self._elsewhere, texts, kind, self._backlog_rest
            )
        else:
            runs = (loop.run_in_executor(lane, self._model.embed, text, kind) for text in texts)
            results = await asyncio.gather(*runs)
        CALLS.labels("local", "ok").inc()
        tokens = sum(each.tokens for each in results)
        TEXTS.labels("local").inc(len(results))
        TOKENS.labels("local").inc(tokens)
        if self._on_usage is not None and results:
            self._on_usage(self.model, tokens, len(results))
        rows = np.array([each.vector for each in results], np.float32).reshape(
            len(results), self._model.width
        )
        return unit_rows(rows, len(results), self._model.width)

    def leave_cores(self) -> None:
        """Leaves all cores but one to a question, for a second."""
        self._batch_cores.leave()
        self._backlog_cores.leave()

    async def warm(self) -> None:
        """Embeds a text in each lane: a session's first run takes longer than any caller should wait."""
        loop = asyncio.get_running_loop()
        await asyncio.gather(
            *(loop.run_in_executor(lane, self._model.embed, "ready?", "query") for lane in self._lanes)
        )

    async def close(self) -> None:
        for lane in self._lanes:
            await asyncio.to_thread(lane.shutdown, cancel_futures=True)

    async def _with_cores(
        self,
        spare: SpareCores,
        lane: Executor,
        embed: Callable[[str, Kind], Timed],
        texts: Sequence[str],
        kind: Kind,
        rest: float,
    ) -> list[Embedded]:
        """While somebody asks, each text is followed by a rest of `rest` times what it took."""

        async def one(text: str) -> Embedded:
            async with spare.core():
                done = await asyncio.get_running_loop().run_in_executor(lane, embed, text, kind)
                spare.note(done.processor, done.wall)
                if spare.alone:
                    await asyncio.sleep(rest * done.wall)
            return done.embedded

        return await asyncio.gather(*map(one, texts))

    def _lane(self, texts: Sequence[str], kind: Kind, urgency: Urgency) -> Executor:
        if urgency == "fresh":
            return self._fresh
        if urgency == "backlog":
            return self._backlog
        if kind == "document" and len(texts) > 1:
            return self._batch
        return self._long if max(map(len, texts), default=0) > _SHORT_CHARS else self._short


def folder_of(package: str, missing: str) -> Path:
    """Where a package lies, which is not imported. Raises SettingsError with `missing` if it is not installed."""
    spec = importlib.util.find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        raise SettingsError([missing])
    return Path(spec.submodule_search_locations[0])


def require_files(folder: Path, sha256: Mapping[str, str]) -> None:
    """Raises SettingsError unless the files are the pinned ones."""
    for name, expected in sha256.items():
        with (folder / name).open("rb") as file:
            if hashlib.file_digest(file, "sha256").hexdigest() != expected:
                raise SettingsError([f"the local embedder's {name} is not the pinned file"])
