"""`make proof-writes`, P1: no acknowledged write is lost while connections, Postgres and the services are killed.

Entries, batches, memories, knowledge, facts, events of a trail, objects and checkpoints are written through the door,
each under an idempotency key until it is acknowledged. The ledger is the client's own. The control is the same cluster
on a database that acknowledges a commit before it is written.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import asyncpg

from local.database import Database, create_database
from local.process import Server
from local.services import NAMES
from proofs.ground import Ground, Proof, run
from proofs.writes.writing import Ledger, Source, lost, written
from tests.support.calls import until
from tests.support.cluster import Cluster

SEED = 1
_TERMINATE = """
select count(pg_terminate_backend(pid)) from (
    select pid from pg_stat_activity where datname = $1 and pid <> pg_backend_pid() order by random() limit $2) victims
"""
_AT_ONCE = 8
_CONTROL_CRASHES = 3
# Without an acknowledged write for so long, something hangs.
_MOST_STILL_SECONDS = 120.0


class Size(NamedTuple):
    writes: int
    backends: int
    crashes: int
    kills: int


_LONG, _SHORT = Size(50_000, 3_000, 40, 40), Size(800, 40, 2, 2)


async def prove(ground: Ground, short: bool, seed: int) -> Proof:
    size = _SHORT if short else _LONG
    hasty = await create_database(ground.postgres.dsn(), "hasty", template=ground.database.name)
    control, control_lost, _ = await _disturbed(
        ground, hasty, Size(0, 0, _CONTROL_CRASHES, 0), seed, acknowledges_early=True
    )
    ledger, gone, faults = await _disturbed(ground, ground.database, size, seed)
    return Proof(
        n=len(ledger.acknowledged),
        faults=faults.total(),
        violations=len(gone) + ledger.refused.total() + (len(ledger.acknowledged) < size.writes),
        control_violations=len(control_lost),
        more={
            "acknowledged": ledger.kinds(),
            "tries": ledger.tries,
            "lost": Counter(ledger.acknowledged[mark] for mark in gone),
            "refused": dict(ledger.refused),
            **faults,
            "control: acknowledged": len(control.acknowledged),
        },
    )


async def _disturbed(
    ground: Ground, database: Database, size: Size, seed: int, *, acknowledges_early: bool = False
) -> tuple[Ledger, list[str], Counter[str]]:
    folder: Path = ground.folder / database.name
    folder.mkdir()
    ledger, ended = Ledger(), asyncio.Event()
    async with Cluster(database, ground.valkey.url, folder, settings=ground.vectors) as cluster:
        await _acknowledge_early(ground, acknowledges_early)
        source = Source(database.name, await _session(cluster, database.name), seed)
        writing = asyncio.create_task(written(cluster, source, ledger, ended))
        faults = _Faults(ground, database, cluster, random.Random(seed))
        try:
            await faults.make(size, ledger)
        finally:
            ended.set()
            await writing
    return ledger, await lost(ground.postgres.dsn(database.name), ledger), faults.made


async def _acknowledge_early(ground: Ground, early: bool) -> None:
    c = await asyncpg.connect(ground.postgres.dsn())
    await c.execute(f"alter system set synchronous_commit = {'off' if early else 'on'}")
    await c.execute(f"alter system set wal_writer_delay = {10_000 if early else 200}")
    await c.execute("select pg_reload_conf()")
    await c.close()


async def _session(cluster: Cluster, name: str) -> str:
    async with cluster.client() as client:

        async def made() -> str:
            answer = await client.post("/api/sessions", {"external_id": name, "agent_name": name})
            assert answer.status == 201, answer
            return str(answer.body["data"]["id"])

        return await until(made)


class _Faults:
    def __init__(self, ground: Ground, database: Database, cluster: Cluster, chance: random.Random) -> None:
        self._ground, self._database, self._cluster = ground, database, cluster
        self._chance = chance
        self.made: Counter[str] = Counter()

    async def make(self, size: Size, ledger: Ledger) -> None:
        """In random order, spread over the writes."""
        rounds = -(-size.backends // _AT_ONCE)
        plan = ["backends"] * rounds + ["crashes"] * size.crashes + ["kills"] * size.kills
        self._chance.shuffle(plan)
        for done, fault in enumerate(plan, 1):
            await getattr(self, f"_{fault}")()
            wanted = size.writes * done / len(plan)
            await asyncio.sleep(self._chance.uniform(0.05, 0.3))
            await _until_written(ledger, wanted)
        while size.backends and self.made["killed backends"] < size.backends:
            await self._backends()
            await asyncio.sleep(0.1)

    async def _backends(self) -> None:
        c = await asyncpg.connect(self._ground.postgres.dsn())
        try:
            self.made["killed backends"] += await c.fetchval(_TERMINATE, self._database.name, _AT_ONCE)
        finally:
            await c.close()

    async def _crashes(self) -> None:
        await asyncio.to_thread(self._ground.postgres.kill)
        await _started(self._ground.postgres)
        self.made["crashes of Postgres"] += 1

    async def _kills(self) -> None:
        service = self._cluster.replicas[self._chance.choice(NAMES)][0]
        await asyncio.to_thread(service.kill)
        await _started(service)
        self.made["kills of a service"] += 1


async def _until_written(ledger: Ledger, wanted: float) -> None:
    """Raises TimeoutError where nothing goes on."""
    while (count := len(ledger.acknowledged)) < wanted:
        async with asyncio.timeout(_MOST_STILL_SECONDS):
            while len(ledger.acknowledged) == count:
                await asyncio.sleep(0.05)


async def _started(server: Server) -> None:
    server.launch()
    await asyncio.to_thread(server.await_ready)


if __name__ == "__main__":
    run("P1", SEED, prove)
