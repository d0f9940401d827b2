"""A worker process drives one system. It reads orders and writes answers, one line of JSON each.

Standard library only: it runs in the environment of each peer.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from bench.race.material import Addresses, Material, Question, Turn, marked, read

Job = Callable[[], Awaitable[Any]]
Answer = dict[str, Any]
_MOST_THREADS = 40


class System(Protocol):
    """A space holds one conversation: a mission, an agent, a namespace, a user or a bank."""

    batch: int

    async def open(self) -> None: ...

    async def close(self) -> None: ...

    async def open_space(self, space: str) -> None: ...

    async def write(self, space: str, turn: Turn) -> None: ...

    async def write_many(self, space: str, turns: Sequence[Turn]) -> None: ...

    async def search(self, space: str, text: str) -> list[str]:
        """Ids of turns, best first."""


class Worker:
    def __init__(self, system: System, material: Material) -> None:
        self._system, self._material = system, material

    async def load(self) -> Answer:
        """All turns, the conversations side by side and the turns of each in order."""
        spaces: dict[str, list[Turn]] = {}
        for turn in self._material["turns"]:
            spaces.setdefault(turn["group"], []).append(turn)
        for space in spaces:
            await self._system.open_space(space)
        return await timed(
            [self._batches(space, turns, self._system.batch) for space, turns in spaces.items()]
        )

    async def quality(self) -> Answer:
        """What is found for each question, in order."""
        questions = self._material["questions"]
        found: list[list[str]] = [[] for _ in questions]

        async def ask(place: int, question: Question) -> None:
            found[place] = await self._system.search(question["group"], question["text"])

        jobs = (partial(ask, place, question) for place, question in enumerate(questions))
        return {**await timed(_shared(jobs, 2)), "found": found}

    async def searches(self, callers: int, places: list[int], mark: int, limit: float) -> Answer:
        asked = [self._material["questions"][place] for place in places]
        jobs = (partial(self._system.search, q["group"], marked(q["text"], mark)) for q in asked)
        return await timed(_shared(jobs, callers), limit)

    async def writes(self, writers: int, count: int, space: str, mark: int, limit: float) -> Answer:
        """`count` turns by each writer, each into a space of its own."""
        lanes = []
        for writer in range(writers):
            own = f"{space}-{writer}"
            await self._system.open_space(own)
            lanes.append(self._writes(own, self._turns(count, 613 * writer, mark)))
        return await timed(lanes, limit)

    async def batches(self, count: int, size: int, space: str, mark: int, limit: float) -> Answer:
        await self._system.open_space(space)
        size = min(size, self._system.batch)
        turns = self._turns(count * size, 311, mark)
        return {**await timed([self._batches(space, turns, size)], limit), "size": size}

    def _writes(self, space: str, turns: Sequence[Turn]) -> Iterator[Job]:
        return (partial(self._system.write, space, turn) for turn in turns)

    def _batches(self, space: str, turns: Sequence[Turn], size: int) -> Iterator[Job]:
        slices = (turns[place : place + size] for place in range(0, len(turns), size))
        return (partial(self._system.write_many, space, some) for some in slices)

    def _turns(self, count: int, offset: int, mark: int) -> list[Turn]:
        """`count` turns from some place on, as texts that nobody has embedded."""
        known = self._material["turns"]
        chosen = (known[(offset + n) % len(known)] for n in range(count))
        return [
            {**turn, "id": f"{n}/{turn['id']}"}
            | {"text": marked(turn["text"], mark), "content": marked(turn["content"], mark)}  # type: ignore[misc]
            for n, turn in enumerate(chosen)
        ]


def _shared(jobs: Iterable[Job], lanes: int) -> list[Iterator[Job]]:
    return [iter(jobs)] * lanes


async def timed(lanes: Sequence[Iterator[Job]], limit: float = 1e9) -> Answer:
    """Runs the lanes side by side and the jobs of each one after the other, and starts none after `limit` seconds."""
    milliseconds: list[float] = []
    errors: list[str] = []
    begun = time.perf_counter()

    async def run(lane: Iterator[Job]) -> None:
        for job in lane:
            if (start := time.perf_counter()) > begun + limit:
                return
            try:
                await job()
                milliseconds.append(1000 * (time.perf_counter() - start))
            except Exception as error:
                errors.append(repr(error)[:300])

    await asyncio.gather(*map(run, lanes))
    wall = time.perf_counter() - begun
    return {"ms": milliseconds, "wall": wall, "failed": len(errors), "errors": errors[:3]}


async def _serve(make: Callable[[Addresses], System]) -> None:
    material, addresses = read(Path(sys.argv[1]))
    loop = asyncio.get_running_loop()
    loop.set_default_executor(ThreadPoolExecutor(_MOST_THREADS))
    system = make(addresses)
    await system.open()
    worker = Worker(system, material)
    _say({"ready": True})
    while line := await loop.run_in_executor(None, sys.stdin.readline):
        order = json.loads(line)
        _say(await getattr(worker, order.pop("do"))(**order))
    await system.close()


def _say(answer: Answer) -> None:
    print(json.dumps(answer), flush=True)


def serve(make: Callable[[Addresses], System]) -> None:
    """Answers orders until standard input ends."""
    asyncio.run(_serve(make))
