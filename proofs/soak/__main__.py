"""`make soak`: a fleet of 20 agents for two hours, with faults at random.

Memory, connections, dead rows and backlogs stay within bounds, and everything is answered in the end.

The control is a context service that leaks. Leaves its picture and its samples in `.soak`.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

import asyncpg

from local.database import ROOT, Database, create_database
from local.process import Server
from local.services import NAMES
from proofs.ground import Ground, Proof, run
from proofs.soak.fleet import Fleet
from proofs.soak.picture import svg
from proofs.soak.sampling import Sample, grown, sample, unfinished
from tests.support.cluster import Cluster

SEED = 24
_SECONDS, _SHORT_SECONDS = 7_200.0, 120.0
# Of the whole, in which the control must have shown what it loses.
_CONTROL_SHARE, _CONTROL_LEAST = 1 / 40, 60.0
_REPLICAS = 2
_SAMPLES = 240
_BETWEEN_SECONDS = (20.0, 60.0)
_DOWN_SECONDS = 2.0
_CALM_SECONDS = 60.0
# Of each replica: its pool, its numbering, and one that takes over from one that is lost.
_CONNECTIONS_EACH = 20
_TERMINATE = """
select count(pg_terminate_backend(pid)) from (
    select pid from pg_stat_activity where datname = $1 and pid <> pg_backend_pid() order by random() limit 4) victims
"""
_FOLDER = ROOT / ".soak"


@dataclass
class Soaked:
    fleet: Fleet
    samples: list[Sample]
    faults: dict[float, str] = field(default_factory=dict)
    longest_crash: float = 0.0
    """Seconds until Postgres was there again."""
    end: Sample | None = None


async def prove(ground: Ground, short: bool, seed: int) -> Proof:
    minutes = os.environ.get("MINUTES")
    seconds = float(minutes) * 60 if minutes else _SHORT_SECONDS if short else _SECONDS
    leaky = await create_database(ground.postgres.dsn(), "leaky", template=ground.database.name)
    control_seconds = max(_CONTROL_LEAST, seconds * _CONTROL_SHARE)
    control = await _soaked(ground, leaky, seed, control_seconds, leaks=True)
    soaked = await _soaked(ground, ground.database, seed, seconds)
    assert soaked.end is not None
    most = len(NAMES) * _REPLICAS * _CONNECTIONS_EACH
    beyond = grown(soaked.samples, most) | {f"{k} at the end": v for k, v in unfinished(soaked.end).items()}
    _keep(soaked)
    last = soaked.samples[-1]
    return Proof(
        n=soaked.fleet.done.total(),
        faults=len(soaked.faults),
        violations=len(beyond) + soaked.fleet.wrong.total(),
        control_violations=len(grown(control.samples, most)),
        more={
            "beyond": beyond,
            "wrong": dict(soaked.fleet.wrong),
            "made": dict(Counter(soaked.faults.values())),
            "tries": soaked.fleet.tries,
            "longest_crash_seconds": round(soaked.longest_crash, 1),
            **{name: round(value, 2) for name, value in last._asdict().items()},
            "control: grown": grown(control.samples, most),
        },
    )


async def _soaked(
    ground: Ground, database: Database, seed: int, seconds: float, *, leaks: bool = False
) -> Soaked:
    folder: Path = ground.folder / database.name
    folder.mkdir()
    cluster = Cluster(database, ground.valkey.url, folder, replicas=_REPLICAS)
    for service in cluster.replicas["context"] if leaks else ():
        service.module = "proofs.soak.leaking"
    async with cluster:
        fleet = Fleet(cluster, seed)
        soaked = Soaked(fleet, [])
        jobs = [asyncio.create_task(fleet.works())]
        faults = _Faults(ground, database, cluster, random.Random(seed), soaked)
        began = time.monotonic()
        if not leaks:
            jobs.append(asyncio.create_task(faults.forever(soaked.faults, began, seconds - _CALM_SECONDS)))
        try:
            await _watched(ground, database, cluster, soaked, began, seconds)
        finally:
            fleet.ended.set()
            await asyncio.gather(*jobs)
        if not leaks:
            await asyncio.sleep(min(_CALM_SECONDS, seconds / 2))
            soaked.end = await _look(ground, database, cluster, soaked, began, 1.0)
    return soaked


async def _watched(
    ground: Ground, database: Database, cluster: Cluster, soaked: Soaked, began: float, seconds: float
) -> None:
    every = seconds / _SAMPLES
    while (at := time.monotonic() - began) < seconds:
        await asyncio.sleep(every)
        took = time.monotonic() - began - at
        try:
            soaked.samples.append(await _look(ground, database, cluster, soaked, began, took))
        except (OSError, asyncpg.PostgresError, asyncpg.InterfaceError):
            continue  # Postgres starts again


async def _look(
    ground: Ground, database: Database, cluster: Cluster, soaked: Soaked, began: float, took: float
) -> Sample:
    taken = soaked.fleet.taken()
    connection = await asyncpg.connect(ground.postgres.dsn(database.name))
    try:
        return await sample(cluster, connection, began, taken, len(taken) / took)
    finally:
        await connection.close()


class _Faults:
    def __init__(
        self, ground: Ground, database: Database, cluster: Cluster, chance: random.Random, soaked: Soaked
    ) -> None:
        self._ground, self._database, self._cluster, self._chance = ground, database, cluster, chance
        self._soaked = soaked
        self._ways: dict[str, tuple[int, Callable[[], Awaitable[None]]]] = {
            "killed replica": (4, self._kill),
            "frozen replica": (2, self._freeze),
            "ended backends": (4, self._backends),
            "Redis began anew": (2, self._redis),
            "crash of Postgres": (1, self._crash),
        }

    async def forever(self, made: dict[float, str], began: float, seconds: float) -> None:
        """One after the other until so many seconds have gone by."""
        weights = [weight for weight, _ in self._ways.values()]
        while True:
            await asyncio.sleep(self._chance.uniform(*_BETWEEN_SECONDS))
            if time.monotonic() - began > seconds:
                return
            (name,) = self._chance.choices(list(self._ways), weights)
            made[time.monotonic() - began] = name
            await self._ways[name][1]()

    async def _kill(self) -> None:
        service = self._chance.choice(self._cluster.all)
        await self._again(service)

    async def _freeze(self) -> None:
        service = self._chance.choice(self._cluster.all)
        service.sigstop()
        await asyncio.sleep(_DOWN_SECONDS)
        service.sigcont()

    async def _backends(self) -> None:
        connection = await asyncpg.connect(self._ground.postgres.dsn())
        try:
            await connection.fetchval(_TERMINATE, self._database.name)
        finally:
            await connection.close()

    async def _redis(self) -> None:
        await self._again(self._ground.valkey)

    async def _crash(self) -> None:
        fleet, began = self._soaked.fleet, time.monotonic()
        # How long it takes is the machine's: Postgres first repeats what it wrote since its last checkpoint.
        fleet.away = True
        try:
            await self._again(self._ground.postgres)
        finally:
            fleet.away = False
        self._soaked.longest_crash = max(self._soaked.longest_crash, time.monotonic() - began)

    async def _again(self, server: Server) -> None:
        await asyncio.to_thread(server.kill)
        await asyncio.sleep(_DOWN_SECONDS)
        server.launch()
        await asyncio.to_thread(server.await_ready)


def _keep(soaked: Soaked) -> None:
    _FOLDER.mkdir(exist_ok=True)
    (_FOLDER / "soak.svg").write_text(svg(soaked.samples, soaked.faults))
    (_FOLDER / "samples.json").write_text(json.dumps([one._asdict() for one in soaked.samples]))
    print(f"the picture is {(_FOLDER / 'soak.svg').relative_to(ROOT)}")


if __name__ == "__main__":
    run("soak", SEED, prove)
