"""The timeline is complete, ordered and resumable (P3): readers that break off, restarts of Redis, killed services.

Two replicas of each service behind a round-robin. Every reader resumes with the last number it saw, at whichever
replica comes next; what it must have seen in the end is what the writers were told is written, and some events that are
committed after later ones. Then, without faults, each event must come soon after its write was acknowledged. The
controls read the table by `id > last`, and only what Redis tells of.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import NamedTuple

import aiohttp
import asyncpg

from proofs.fairness.figures import quantile
from proofs.ground import Ground, Proof, run
from proofs.timeline.controls import ById, ByRings, commit_late
from proofs.timeline.reading import Reader
from tests.support.calls import note
from tests.support.cluster import Client, Cluster

SEED = 20_266
WRITERS = 8
READERS = 4
_PATIENCE = 120.0
_BUSY = (429, 502, 503)
_AGAIN_SECONDS = 0.05
_AWAY_SECONDS = 0.2
# Those that write the events, and those that number and show them.
_KILLED = ("cache", "context")
# Between two writes of one writer, when there are no faults.
_CALM_SECONDS = 0.05
_MOST_LAG_SECONDS = 1.0


class Size(NamedTuple):
    events: int
    calm: int
    """Of the events, those without a fault."""
    breaks: int
    restarts: int
    kills: int


_LONG, _SHORT = Size(20_000, 800, 200, 20, 10), Size(800, 80, 20, 2, 1)


@dataclass
class Written:
    ids: dict[int, float] = field(default_factory=dict)
    """When the write of each entry was acknowledged, by the monotonic clock."""

    async def write(self, client: Client, writer: int, count: int, name: str, pause: float = 0.0) -> None:
        for number in range(count):
            body = note(f"mission-{name}-{writer}", f"finding {number} of writer {writer}, {name}")
            entry = await _acknowledged(client, body, f"{name}-{writer}-{number}")
            self.ids[entry] = time.monotonic()
            await asyncio.sleep(pause)

    async def write_all(self, client: Client, count: int, name: str, pause: float = 0.0) -> None:
        each = count // WRITERS
        await asyncio.gather(*(self.write(client, one, each, name, pause) for one in range(WRITERS)))


async def _acknowledged(client: Client, body: dict[str, object], key: str) -> int:
    while True:
        with contextlib.suppress(aiohttp.ClientError, OSError):
            answer = await client.post(
                "/api/psychic-cache/write", body, headers={"idempotency-key": f"p3-{key}"}
            )
            if answer.status == 201:
                return int(answer.body["data"]["id"])
            if answer.status not in _BUSY:
                raise RuntimeError(f"a write answered {answer.status}: {answer.body}")
        await asyncio.sleep(_AGAIN_SECONDS)


class _Faults:
    def __init__(self, ground: Ground, cluster: Cluster, chance: random.Random) -> None:
        self._valkey, self._cluster, self._chance = ground.valkey, cluster, chance
        self.made: Counter[str] = Counter()

    async def make(self, size: Size, written: Written) -> None:
        """In random order, spread over the writes."""
        plan = ["restarts of Redis"] * size.restarts + ["kills of a service"] * size.kills
        self._chance.shuffle(plan)
        for done, fault in enumerate(plan, 1):
            while len(written.ids) < (size.events - size.calm) * done / (len(plan) + 1):
                await asyncio.sleep(0.05)
            await (self._restart() if fault == "restarts of Redis" else self._kill())
            self.made[fault] += 1

    async def _restart(self) -> None:
        await asyncio.to_thread(self._valkey.stop)
        await asyncio.sleep(_AWAY_SECONDS)
        # A child dies with the thread that starts it: not in one of the pool's.
        self._valkey.launch()
        await asyncio.to_thread(self._valkey.await_ready)

    async def _kill(self) -> None:
        replica = self._chance.choice(self._cluster.replicas[self._chance.choice(_KILLED)])
        await asyncio.to_thread(replica.kill)
        await self._cluster.start(replica)


async def prove(ground: Ground, short: bool, seed: int) -> Proof:
    # The proxy in front of a killed replica has much to say.
    logging.getLogger("aiohttp").setLevel(logging.CRITICAL)
    size = _SHORT if short else _LONG
    chance = random.Random(seed)
    written, wrote, calm = Written(), asyncio.Event(), Written()
    cluster = Cluster(ground.database, ground.valkey.url, ground.folder, replicas=2, settings=ground.vectors)
    async with cluster, cluster.client("write") as client:
        readers = [
            Reader(client, random.Random(chance.random()), size.breaks // READERS, size.events)
            for _ in range(READERS)
        ]
        async with _controls(ground) as (by_id, by_rings), _following(readers):
            late = asyncio.create_task(commit_late(ground.database.admin, by_id, wrote))
            faults = _Faults(ground, cluster, chance)
            await asyncio.gather(
                faults.make(size, written), written.write_all(client, size.events - size.calm, "faults")
            )
            wrote.set()
            expected = {*written.ids, *await late}
            await _caught_up(readers, expected)
            await calm.write_all(client, size.calm, "calm", _CALM_SECONDS)
            await _caught_up(readers, expected | calm.ids.keys())
    everything = expected | calm.ids.keys()
    missed = sum(len(everything - set(reader.seen)) for reader in readers)
    out_of_order = sum(reader.out_of_order for reader in readers)
    broken_off = sum(reader.broken_off for reader in readers)
    lag = quantile(_lags(readers, calm), 0.99)
    unseen = [len(expected - control.seen) for control in (by_id, by_rings)]
    return Proof(
        n=len(everything),
        faults=faults.made.total() + broken_off,
        # In short, a busy machine may be slower.
        violations=missed + out_of_order + (not short and lag > _MOST_LAG_SECONDS),
        control_violations=sum(unseen) if all(unseen) else 0,
        more={
            "missed": missed,
            "out_of_order": out_of_order,
            "disconnects": broken_off,
            **faults.made,
            "readers": READERS,
            "lag_p99_seconds": round(lag, 3),
            "missed_by_id": unseen[0],
            "missed_by_rings": unseen[1],
        },
    )


@asynccontextmanager
async def _controls(ground: Ground) -> AsyncIterator[tuple[ById, ByRings]]:
    connections = [await asyncpg.connect(ground.database.admin) for _ in range(2)]
    controls = ById(connections[0]), ByRings(connections[1], ground.valkey.url)
    try:
        async with _following(controls):
            yield controls
    finally:
        for connection in connections:
            await connection.close()


@asynccontextmanager
async def _following(readers: Sequence[Reader | ById | ByRings]) -> AsyncIterator[None]:
    tasks = [asyncio.create_task(reader.follow()) for reader in readers]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        for ended in await asyncio.gather(*tasks, return_exceptions=True):
            # One that stopped reading would seem to have missed much.
            if isinstance(ended, Exception):
                raise ended


async def _caught_up(readers: list[Reader], expected: set[int]) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_PATIENCE):
            while any(len(reader.seen) < len(expected) for reader in readers):
                await asyncio.sleep(0.1)


def _lags(readers: list[Reader], written: Written) -> list[float]:
    """The seconds from each acknowledgement to each reader."""
    return [
        max(0.0, came - written.ids[entry])
        for reader in readers
        for entry, came in zip(reader.seen, reader.times, strict=True)
        if entry in written.ids
    ]


def main() -> None:
    run("P3", SEED, prove)


if __name__ == "__main__":
    main()
