"""`make proof-clocks`, P11: the clock of each replica jumps by an hour, forwards and back, and nothing depends on it.

Two replicas of each service, whose clocks differ. Nothing may expire early, or stay; no request may be refused; every
item gets its vector, also what a killed replica held a lease on; and each writer's events are numbered in the order in
which its writes were acknowledged. The control are the same services, going by their own clocks.
"""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import asyncpg

from local.database import Database, create_database
from local.services import NAMES
from proofs.clocks.jumping import HOUR, SEEN_SECONDS, Jumping, copied
from proofs.clocks.writing import WRITERS, Ledger, Writer, look
from proofs.ground import Ground, Proof, run
from proofs.timeline.reading import Reader
from tests.support.cluster import Cluster

SEED = 11
JUMPS, SHORT_JUMPS, CONTROL_JUMPS = 20, 2, 1
_CONTROL = "proofs.clocks.wall"
# A lease is for a minute.
_LEASES_SECONDS = 150.0
_READ_SECONDS = 60.0
_QUEUED = """
select (select count(*) from cache.index_queue) + (select count(*) from memory.index_queue)
"""


class Figures(NamedTuple):
    ledger: Ledger
    jumps: Counter[str]
    kills: int


async def prove(ground: Ground, short: bool, seed: int) -> Proof:
    other = await create_database(ground.postgres.dsn(), "wall", template=ground.database.name)
    with copied(ground.folder):
        # Both mostly wait.
        control, done = await asyncio.gather(
            _disturbed(ground, other, CONTROL_JUMPS, seed, _CONTROL),
            _disturbed(ground, ground.database, SHORT_JUMPS if short else JUMPS, seed),
        )
    return Proof(
        n=done.ledger.requests,
        faults=done.jumps.total() + done.kills,
        violations=done.ledger.wrong.total(),
        control_violations=control.ledger.wrong.total(),
        more={
            "jumps": dict(done.jumps),
            "kills": done.kills,
            "lasting": len(done.ledger.lasting),
            "passing": len(done.ledger.passing),
            "events": sum(map(len, done.ledger.order)),
            "wrong": dict(done.ledger.wrong),
            "control": dict(control.ledger.wrong),
        },
    )


async def _disturbed(
    ground: Ground, database: Database, jumps: int, seed: int, control: str | None = None
) -> Figures:
    folder: Path = ground.folder / database.name
    folder.mkdir()
    folder.chmod(0o755)
    ledger, chance, ended = Ledger(), random.Random(seed), asyncio.Event()
    cluster = Cluster(database, ground.valkey.url, folder, replicas=2, settings=ground.vectors)
    clocks = {
        name: [Jumping(replica, folder, control) for replica in cluster.replicas[name]] for name in NAMES
    }
    async with cluster, cluster.client("admin") as client:
        # Breaks off as often as it can without missing the end.
        reader = Reader(client, chance, 4, 400)
        reading = asyncio.create_task(reader.follow())
        writing = [
            asyncio.create_task(Writer(client, number, ledger, database.name).work(ended))
            for number in range(WRITERS)
        ]
        try:
            made, kills = await _jump(cluster, clocks, jumps, chance, killing=control is None)
        finally:
            ended.set()
        await asyncio.gather(*writing)
        await look(client, ledger)
        if control is None:
            await _compare(reader, ledger)
            await _drained(database, ledger)
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
    return Figures(ledger, made, kills)


async def _jump(
    cluster: Cluster, clocks: dict[str, list[Jumping]], jumps: int, chance: random.Random, *, killing: bool
) -> tuple[Counter[str], int]:
    made: Counter[str] = Counter()
    kills = 0
    plan = [name for name in NAMES for _ in range(jumps)]
    chance.shuffle(plan)
    for number, name in enumerate(plan, 1):
        clock = chance.choice(clocks[name])
        clock.jump(chance.choice([ahead for ahead in (-HOUR, 0, HOUR) if ahead != clock.ahead]))
        made[name] += 1
        await asyncio.sleep(SEEN_SECONDS + chance.uniform(0.2, 1.0))
        if killing and number in (len(plan) // 3, 2 * len(plan) // 3):
            # What it was about to do waits for the end of its lease.
            replica = cluster.replicas[("cache", "agent_memory")[kills % 2]][0]
            await asyncio.to_thread(replica.kill)
            await cluster.start(replica)
            kills += 1
    return made, kills


async def _compare(reader: Reader, ledger: Ledger) -> None:
    """Each writer's entries in the order in which they were acknowledged, and none left out."""
    expected = {entry for entries in ledger.order for entry in entries}
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_READ_SECONDS):
            while not expected <= set(reader.seen):
                await asyncio.sleep(0.1)
    ledger.wrong["events missed"] += len(expected - set(reader.seen))
    ledger.wrong["events out of order"] += reader.out_of_order
    places = {entry: place for place, entry in enumerate(reader.seen)}
    for entries in ledger.order:
        own = [places[entry] for entry in entries if entry in places]
        ledger.wrong["events numbered unlike their writes"] += sum(
            later < earlier for earlier, later in pairwise(own)
        )
    ledger.wrong = +ledger.wrong


async def _drained(database: Database, ledger: Ledger) -> None:
    sql = await asyncpg.connect(database.admin)
    try:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_LEASES_SECONDS):
                while left := await sql.fetchval(_QUEUED):
                    await asyncio.sleep(0.2)
        left = await sql.fetchval(_QUEUED)
    finally:
        await sql.close()
    if left:
        ledger.wrong["leases stuck"] += left


if __name__ == "__main__":
    run("P11", SEED, prove)
