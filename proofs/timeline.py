"""The timeline is complete, ordered and resumable (P3): writers, readers that break off, a Redis that restarts.

Two replicas of each service behind a round-robin. Every reader resumes with the last id it saw, at whichever
replica comes next; what it must have seen in the end is what the writers were told is written, and some events that are
committed after later ones. The control reads the table by `id > last`, as one would without the sequencer.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import random
from dataclasses import dataclass, field

import aiohttp
import asyncpg

from local.servers import Valkey
from proofs.ground import Ground, Proof, run
from tests.support.cluster import Client, Cluster

SEED = 20_266
WRITERS = 8
READERS = 4
_PATIENCE = 120.0
_BY_ID = """
select id, (payload->>'id')::bigint as entry from timeline.events
where kind = 'cache_write' and id > $1 order by id
"""

_LATE = """
insert into timeline.events (tenant, scope, kind, mission_id, payload)
values ('default', 'mission:late', 'cache_write', 'late', jsonb_build_object('id', $1::bigint)) returning id
"""
LATE_COMMITS = 10


@dataclass
class Reader:
    """Follows the stream, breaking off now and then; `seen` are entries' ids in the order they came."""

    client: Client
    random: random.Random
    breaks: int
    wanted: int
    seen: list[int] = field(default_factory=list)
    out_of_order: int = 0
    broken_off: int = 0
    last: int = 0

    async def follow(self) -> None:
        while True:
            stay = None
            if self.broken_off < self.breaks:
                stay = self.random.randint(1, 3 * self.wanted // (2 * self.breaks))
            with contextlib.suppress(aiohttp.ClientError, TimeoutError):
                await self._read(stay)
            self.broken_off += 1

    async def _read(self, stay: int | None) -> None:
        """Until `stay` events came, or the stream ends."""
        headers = {"accept": "text/event-stream", "last-event-id": str(self.last)}
        timeout = aiohttp.ClientTimeout(total=None, sock_read=30)
        async with self.client.session.get("/api/timeline", headers=headers, timeout=timeout) as response:
            response.raise_for_status()
            async for raw in response.content:
                name, _, value = raw.decode().rstrip("\n").partition(": ")
                if name != "data":
                    continue
                self._take(json.loads(value))
                if stay is not None and (stay := stay - 1) <= 0:
                    return

    def _take(self, event: dict[str, object]) -> None:
        seq = event["seq"]
        assert isinstance(seq, int)
        self.out_of_order += seq <= self.last
        self.last = seq
        if event["kind"] == "cache_write":
            payload = event["payload"]
            assert isinstance(payload, dict)
            self.seen.append(payload["id"])


async def write(client: Client, number: int, count: int) -> list[int]:
    """The ids that were acknowledged."""
    done = []
    for n in range(count):
        body = {
            "context_type": "intel",
            "mission_id": f"mission-{number}",
            "content": f"finding {n} of writer {number}",
            "intel_source": "proof",
        }
        answer = await client.post("/api/psychic-cache/write", body)
        if answer.status != 201:
            raise RuntimeError(f"a write answered {answer.status}: {answer.body}")
        done.append(answer.body["data"]["id"])
    return done


@dataclass
class ById:
    """The control: commit order is not the order of ids."""

    connection: asyncpg.Connection[asyncpg.Record]
    last: int = 0
    seen: list[int] = field(default_factory=list)

    async def follow(self) -> None:
        while True:
            for row in await self.connection.fetch(_BY_ID, self.last):
                self.last = row["id"]
                self.seen.append(row["entry"])
            await asyncio.sleep(0)


async def commit_late(database: str, control: ById, done: asyncio.Event) -> list[int]:
    """Entries whose events are committed once the control has read later ones, as long as there are any."""
    connection = await asyncpg.connect(database)
    committed: list[int] = []
    try:
        while len(committed) < LATE_COMMITS and not done.is_set():
            async with connection.transaction():
                entry = -1 - len(committed)
                event = await connection.fetchval(_LATE, entry)
                while control.last <= event and not done.is_set():
                    await asyncio.sleep(0.01)
            committed.append(entry)
    finally:
        await connection.close()
    return committed


async def restart(valkey: Valkey, times: int, every: float) -> int:
    for _ in range(times):
        await asyncio.sleep(every)
        await asyncio.to_thread(valkey.stop)
        await asyncio.sleep(0.2)
        # A child dies with the thread that starts it: not in one of the pool's.
        valkey.launch()
        await asyncio.to_thread(valkey.await_ready)
    return times


async def prove(ground: Ground, short: bool, seed: int) -> Proof:
    events, breaks, restarts = (800, 20, 2) if short else (10_000, 100, 10)
    chance = random.Random(seed)
    cluster = Cluster(ground.database, ground.valkey.url, ground.folder, replicas=2)
    async with cluster, cluster.client("write") as client:
        readers = [
            Reader(client, random.Random(chance.random()), breaks // READERS, events) for _ in range(READERS)
        ]
        connection = await asyncpg.connect(ground.database.admin)
        control, written = ById(connection), asyncio.Event()
        following = [asyncio.create_task(reader.follow()) for reader in readers]
        following.append(asyncio.create_task(control.follow()))
        late = asyncio.create_task(commit_late(ground.database.admin, control, written))
        restarting = asyncio.create_task(restart(ground.valkey, restarts, 1.0))
        acknowledged = await asyncio.gather(
            *(write(client, number, events // WRITERS) for number in range(WRITERS))
        )
        written.set()
        expected = {entry for ids in [*acknowledged, await late] for entry in ids}
        faults = await restarting
        await _caught_up(readers, expected)
        for task in following:
            task.cancel()
        await asyncio.gather(*following, return_exceptions=True)
        await connection.close()
    missed = sum(len(expected - set(reader.seen)) for reader in readers)
    out_of_order = sum(reader.out_of_order for reader in readers)
    broken_off = sum(reader.broken_off for reader in readers)
    return Proof(
        n=len(expected),
        faults=faults + broken_off,
        violations=missed + out_of_order,
        control_violations=len(expected - set(control.seen)),
        more={
            "missed": missed,
            "out_of_order": out_of_order,
            "disconnects": broken_off,
            "redis_restarts": faults,
            "readers": READERS,
        },
    )


async def _caught_up(readers: list[Reader], expected: set[int]) -> None:
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_PATIENCE):
            while any(len(reader.seen) < len(expected) for reader in readers):
                await asyncio.sleep(0.1)


def main() -> None:
    run("P3", SEED, prove)


if __name__ == "__main__":
    main()
