"""How fast vectors follow an import, and what others notice of it: `python -m bench.indexing`.

Imports messages of about 500 tokens, first while nobody asks. Then one caller asks for context, and another writes a
short entry now and then and waits for its vector; imports and pauses of the same length take turns. `MESSAGES` (200) is
the size of an import, `ROUNDS` (3) how often both come.
"""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bench.assemble.data import MISSION, questions, texts
from bench.client import Client
from bench.cluster import Address, cluster
from bench.race.usage import processor_seconds

_BATCH = 50
_SENTENCES, _CHARACTERS = 22, 2_100
"""About 500 tokens."""
_LOOK_SECONDS = 0.2
_WARM_SECONDS = 5.0
_ASSEMBLE_PAUSE, _WRITE_PAUSE = 0.05, 0.5

_HISTORY = "history"
_LIMITS = {"token_budget": 2**31 - 1, "entry_budget": 1_000_000, "ttl_hours": 24}

Job = Callable[[], Awaitable[None]]
Figures = dict[str, Any]


@dataclass
class Seconds:
    """What answers took in one kind of time: during imports, or during pauses."""

    asked: list[float] = field(default_factory=list)
    written: list[float] = field(default_factory=list)

    def figures(self) -> Figures:
        asked, written = np.percentile(self.asked, [50, 95]), np.percentile(self.written, [50, 95])
        return {
            "assemble_p50_ms": round(asked[0] * 1000, 1),
            "assemble_p95_ms": round(asked[1] * 1000, 1),
            "vector_p50_s": round(written[0], 3),
            "vector_p95_s": round(written[1], 3),
        }


class Callers:
    """One asks, another writes. `seconds` takes what their answers took, by when each was asked for."""

    def __init__(self, client: Client) -> None:
        self._client = client
        self._place = 0
        self.seconds = Seconds()

    async def ask(self) -> None:
        asked = questions()
        self._place += 1
        body = {
            "query": f"{asked[self._place % len(asked)]} ({self._place})",
            "caller": "bench",
            "mission_namespace": MISSION,
        }
        seconds = self.seconds.asked
        seconds.append(await _timed(self._client.post("/api/context/assemble", body)))
        await asyncio.sleep(_ASSEMBLE_PAUSE)

    async def write(self) -> None:
        self._place += 1
        body = _entry(MISSION, f"The payment worker of run {self._place} lost its lease and was drained.")
        seconds = self.seconds.written
        seconds.append(await _timed(self._client.post("/api/psychic-cache/write?wait=indexed", body)))
        await asyncio.sleep(_WRITE_PAUSE)


async def _timed(call: Awaitable[Any]) -> float:
    started = time.perf_counter()
    await call
    return time.perf_counter() - started


@asynccontextmanager
async def _repeating(*jobs: Job) -> AsyncIterator[None]:
    """Runs each of them again and again."""
    ended = asyncio.Event()

    async def repeat(job: Job) -> None:
        while not ended.is_set():
            await job()

    async with asyncio.TaskGroup() as tasks:
        for job in jobs:
            tasks.create_task(repeat(job))
        try:
            yield
        finally:
            ended.set()


class Importer:
    def __init__(self, client: Client, count: int) -> None:
        self._client, self._count = client, count
        self._random = np.random.default_rng(20_299)

    async def run(self) -> float:
        """The seconds until all messages have their vectors."""
        rows = self._messages()
        started = time.perf_counter()
        for place in range(0, self._count, _BATCH):
            entries = [_entry(_HISTORY, text) for text in rows[place : place + _BATCH]]
            await self._client.post("/api/psychic-cache/write/batch", {"entries": entries})
        while await self._waiting():
            await asyncio.sleep(_LOOK_SECONDS)
        return time.perf_counter() - started

    async def _waiting(self) -> int:
        stats = await self._client.call("GET", f"/api/psychic-cache/{_HISTORY}/stats")
        count: int = stats["data"]["unindexed_count"]
        return count

    def _messages(self) -> list[str]:
        sentences = texts(self._random, self._count * _SENTENCES)
        starts = range(0, len(sentences), _SENTENCES)
        return [". ".join(sentences[place : place + _SENTENCES])[:_CHARACTERS] for place in starts]


def _entry(mission: str, content: str) -> dict[str, Any]:
    return {"context_type": "intel", "mission_id": mission, "content": content, "intel_source": "bench"}


async def measure(address: Address, count: int, rounds: int) -> Figures:
    async with Client(address.url, address.token) as client:
        for mission in (MISSION, _HISTORY):
            await client.put(f"/api/psychic-cache/{mission}/limits", _LIMITS)
        for text in texts(np.random.default_rng(1), 200):
            await client.post("/api/psychic-cache/write", _entry(MISSION, text))
        importer = Importer(client, count)
        spent = processor_seconds([os.getpid()])
        calm = await importer.run()
        spent = processor_seconds([os.getpid()]) - spent
        return {
            "messages": count,
            "calm": {
                "messages_per_s": round(count / calm, 1),
                "cpu_ms_per_message": round(spent / count * 1000, 1),
            },
            **await _beside_callers(client, importer, count, rounds),
        }


async def _beside_callers(client: Client, importer: Importer, count: int, rounds: int) -> Figures:
    callers, pauses, imports = Callers(client), Seconds(), Seconds()
    took = 0.0
    async with _repeating(callers.ask, callers.write):
        await asyncio.sleep(_WARM_SECONDS)
        for _ in range(rounds):
            callers.seconds = imports
            seconds = await importer.run()
            callers.seconds = pauses
            await asyncio.sleep(seconds)
            took += seconds
    rate = {"messages_per_s": round(rounds * count / took, 1)}
    return {"pauses": pauses.figures(), "imports": {**rate, **imports.figures()}}


def table(figures: Figures) -> str:
    calm, pauses, imports = figures["calm"], figures["pauses"], figures["imports"]
    ratio = imports["assemble_p95_ms"] / pauses["assemble_p95_ms"]
    rows = [
        ("", "nobody asks", "no import", "import beside"),
        ("messages/s", calm["messages_per_s"], "", imports["messages_per_s"]),
        ("CPU ms a message", calm["cpu_ms_per_message"], "", ""),
        *((name, "", pauses[name], imports[name]) for name in pauses),
        ("assemble p95, ratio", "", "", f"{ratio:.2f}"),
    ]
    return "\n".join(f"{row[0]:24}" + "".join(f"{cell!s:>16}" for cell in row[1:]) for row in rows)


def main() -> None:
    count, rounds = int(os.environ.get("MESSAGES", "200")), int(os.environ.get("ROUNDS", "3"))
    with cluster() as address:
        figures = asyncio.run(measure(address, count, rounds))
    print(table(figures))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
