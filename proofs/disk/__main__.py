"""`make proof-disk`, P10: nothing that was acknowledged is lost when the disk of Postgres is full (as root, on Linux).

The database lies on a file system of its own. It is filled to the last byte while writes of every kind go on: they are
answered, with 503 where they cannot be stored. Half of the times Postgres crashes while the disk is full. When there is
room again, writes must be acknowledged within 30 s. The control is the same database, acknowledging before it writes.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import aiohttp
import asyncpg

from local.database import NAME, Database, create_database
from local.process import LocalError
from local.servers import Postgres
from proofs.ground import Ground, Proof, run, start
from proofs.writes.writing import Ledger, Source, lost, written
from tests.support.calls import note, until
from tests.support.cluster import Client, Cluster

SEED = 10
ROUNDS, SHORT_ROUNDS = 10, 2
_MEGABYTES = 700
_ACKNOWLEDGED = 100
_FULL_SECONDS = 4.0
_MOST_SECONDS = 30.0
_HANGS_SECONDS = 120.0
_ANSWERED = (201, 503)


async def prove(ground: Ground, short: bool, seed: int) -> Proof:
    with _mounted(ground.folder / "small") as mount:
        postgres = Postgres(mount / "postgres", logs=ground.folder / "small logs", durable=False)
        try:
            database = await start(postgres, ground.folder)
            other = await create_database(postgres.dsn(), "control", template=NAME)
            control = await _filled(ground, postgres, mount, other, 2, seed, early=True)
            rounds = SHORT_ROUNDS if short else ROUNDS
            ledger, gone, seen, slowest = await _filled(ground, postgres, mount, database, rounds, seed)
        finally:
            postgres.stop()
    wrong = Counter({status: count for status, count in seen.items() if status not in _ANSWERED})
    return Proof(
        n=len(ledger.acknowledged),
        faults=rounds,
        violations=len(gone)
        + ledger.refused.total()
        + wrong.total()
        + (slowest > _MOST_SECONDS)
        + (seen[503] == 0),
        control_violations=len(control[1]),
        more={
            "acknowledged": ledger.kinds(),
            "lost": Counter(ledger.acknowledged[mark] for mark in gone),
            "answers while full": dict(seen),
            "refused": dict(ledger.refused),
            "slowest recovery": round(slowest, 1),
        },
    )


@contextmanager
def _mounted(folder: Path) -> Iterator[Path]:
    folder.mkdir()
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={_MEGABYTES}m", "tmpfs", folder], check=False)
    if made.returncode:
        raise LocalError("this proof mounts a file system: run it as root")
    try:
        folder.chmod(0o711)
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


async def _filled(
    ground: Ground,
    postgres: Postgres,
    mount: Path,
    database: Database,
    rounds: int,
    seed: int,
    *,
    early: bool = False,
) -> tuple[Ledger, list[str], Counter[int], float]:
    name = database.name
    folder = ground.folder / f"disk {name}"
    folder.mkdir()
    ledger, ended, seen, slowest = Ledger(), asyncio.Event(), Counter[int](), 0.0
    async with (
        Cluster(database, ground.valkey.url, folder, settings=ground.vectors) as cluster,
        cluster.client() as client,
    ):
        source = Source(name, await _session(client, name), seed)
        await _acknowledge_early(postgres, early)
        writing = asyncio.create_task(written(cluster, source, ledger, ended))
        try:
            for number in range(rounds):
                await _acknowledged(ledger, _ACKNOWLEDGED)
                if early:
                    await _stop_wal_writer(postgres)
                with _full(mount):
                    seen += await _asked(client, name)
                    if early or number % 2:
                        await asyncio.to_thread(postgres.kill)
                        # It may not come up before there is room.
                        postgres.launch()
                        await asyncio.sleep(1)
                slowest = max(slowest, await _recovered(postgres, ledger))
        finally:
            ended.set()
            await writing
    return ledger, await lost(postgres.dsn(name), ledger), seen, slowest


async def _session(client: Client, name: str) -> str:
    async def made() -> str:
        answer = await client.post("/api/sessions", {"external_id": name, "agent_name": name})
        assert answer.status == 201, answer
        return str(answer.body["data"]["id"])

    return await until(made)


async def _acknowledge_early(postgres: Postgres, early: bool) -> None:
    c = await asyncpg.connect(postgres.dsn())
    try:
        await c.execute(f"alter system set synchronous_commit = {'off' if early else 'on'}")
        await c.execute(f"alter system set wal_writer_delay = {10_000 if early else 200}")
        await c.execute("select pg_reload_conf()")
    finally:
        await c.close()


async def _stop_wal_writer(postgres: Postgres) -> None:
    """Until the crash. Else it may write what was acknowledged early just before, and the control loses nothing."""
    c = await asyncpg.connect(postgres.dsn())
    try:
        pid = await c.fetchval("select pid from pg_stat_activity where backend_type = 'walwriter'")
        os.kill(pid, signal.SIGSTOP)
    finally:
        await c.close()


@contextmanager
def _full(mount: Path) -> Iterator[None]:
    """To the last byte, again and again: what Postgres frees is taken, too."""
    ballast = mount / "ballast"
    try:
        with ballast.open("wb", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(1 << 20))
        with ballast.open("ab", buffering=0) as file, contextlib.suppress(OSError):
            while True:
                file.write(bytes(os.sysconf("SC_PAGE_SIZE")))
        yield
    finally:
        ballast.unlink()


async def _asked(client: Client, name: str) -> Counter[int]:
    """How writes are answered for a while, until one is refused. 0: with a broken connection."""
    seen: Counter[int] = Counter()
    began = time.monotonic()
    while (passed := time.monotonic() - began) < _FULL_SECONDS or (not seen[503] and passed < _HANGS_SECONDS):
        body = note(f"{name}-full-{len(seen)}", "a finding that takes some room " * 300)
        try:
            seen[(await client.post("/api/psychic-cache/write", body)).status] += 1
        except (aiohttp.ClientError, OSError):
            seen[0] += 1
    return seen


async def _recovered(postgres: Postgres, ledger: Ledger) -> float:
    """Seconds until writes are acknowledged. Whoever supervises Postgres starts it again when it has ended."""
    began, count = time.monotonic(), len(ledger.acknowledged)
    while len(ledger.acknowledged) == count and time.monotonic() - began < _HANGS_SECONDS:
        if not postgres.running:
            postgres.launch()
        await asyncio.sleep(0.1)
    return time.monotonic() - began


async def _acknowledged(ledger: Ledger, more: int) -> None:
    wanted = len(ledger.acknowledged) + more
    async with asyncio.timeout(_HANGS_SECONDS):
        while len(ledger.acknowledged) < wanted:
            await asyncio.sleep(0.05)


if __name__ == "__main__":
    run("P10", SEED, prove)
