"""Upgrades are online (P9): the previous code goes on, without a failed request, while and after the schema changes.

The previous code is that of PREVIOUS: a commit, by default the one before the newest migration was added, as far as
its database can be upgraded. It works on its own schema, then `alembic upgrade head` of this code runs under load, is
killed before its last statement and runs again, then this code's services take over, one service after the other. No
lock may be waited for longer than two seconds.
The control builds an index in the way that blocks writers. Needs git and the history.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import subprocess
import sys
import tarfile
import time
from io import BytesIO
from pathlib import Path

import asyncpg

from local.database import ROLE_VARIABLES, ROOT, Database, create_database
from local.process import environment, free_ports
from local.services import NAMES, Service, Tokens, variables
from proofs.ground import Ground, Proof, run
from proofs.restarts import Load
from tests.support.calls import until
from tests.support.cluster import Client

SEED = 20_270
_LONGEST_WAIT = 2.0
_ROWS = 60_000
_KILLS, _SHORT_KILLS = 5, 1

WAITS = """
select count(*) from pg_stat_activity
where datname = current_database() and wait_event_type = 'Lock' and now() - query_start > interval '2 seconds'
  and application_name like 'scrubjay%'
"""
# The last statement of a migration.
DONE = "update public.alembic_version"
WAITS_TO_BE_DONE = """
select exists (
    select from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query ilike $1 || '%')
"""
FILL = """
insert into timeline.events (tenant, scope, kind, payload)
select 'filler', 'mission:filler', 'filler', jsonb_build_object('text', repeat('x', 200))
from generate_series(1, $1::int)
"""


def previous_commit() -> str | None:
    """None where no migration was added after the first release."""
    if named := os.environ.get("PREVIOUS"):
        return named
    added = _git("log", "--diff-filter=A", "--format=%H", "-1", "--", "alembic/versions/*.py").strip()
    before = f"{added}^"
    return before if added and _exists(before) and not rewritten(before) else None


def rewritten(commit: str) -> list[str]:
    """Migrations and functions that the commit has in another form: its database is not one of this history."""
    changed = ("diff", "--name-only", "--no-renames", "--diff-filter=MD", commit)
    return _git(*changed, "--", "alembic/versions", "alembic/functions").split()


def _exists(commit: str) -> bool:
    look = ["git", "cat-file", "-e", f"{commit}^{{commit}}"]
    return subprocess.run(look, cwd=ROOT, stderr=subprocess.DEVNULL).returncode == 0


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def unpack(commit: str, folder: Path) -> Path:
    folder.mkdir()
    packed = subprocess.run(["git", "archive", commit], cwd=ROOT, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return folder


async def upgrade(database: Database, tree: Path) -> None:
    process = await _upgrading(database, tree)
    if await process.wait():
        raise RuntimeError(f"the migrations of {tree} failed")


async def _upgrading(database: Database, tree: Path) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "alembic", "upgrade", "head"),
        cwd=tree,
        env=environment({"DATABASE_URL": database.owner, **ROLE_VARIABLES}),
    )


async def _killed_upgrade(database: Database, tree: Path) -> None:
    """Killed once all but the last statement is done, for which it waits."""
    other, looking = [await asyncpg.connect(database.admin) for _ in range(2)]

    async def waits() -> None:
        assert await looking.fetchval(WAITS_TO_BE_DONE, DONE)

    try:
        async with other.transaction():
            await other.execute("select from public.alembic_version for update")
            process = await _upgrading(database, tree)
            await until(waits, 60)
            process.kill()
            await process.wait()
    finally:
        await other.close()
        await looking.close()


class Of(Service):
    """A service of another tree."""

    tree = ROOT

    def launch(self) -> None:
        self.spawn([sys.executable, "-m", self.module], cwd=self.tree, env=environment(self.variables))


class Release:
    """One replica of each service, from one tree."""

    def __init__(self, ground: Ground, database: Database, tokens: Tokens, tree: Path, name: str) -> None:
        ports = dict(zip(NAMES, free_ports(len(NAMES)), strict=True))
        addresses = {of: f"http://127.0.0.1:{port}" for of, port in ports.items()}
        self.url = addresses["context"]
        self.services = []
        for of in NAMES:
            given = variables(
                of,
                database_url=database.services[of],
                redis_url=ground.valkey.url,
                tokens=tokens,
                addresses=addresses,
            )
            # Code from before identities were signed needs it.
            given = {"SCRUBJAY_SERVICE_TOKEN": tokens.cache, **given}
            service = Of(of, ground.folder / f"{name}-{of}.log", ports[of], given)
            service.tree = tree
            self.services.append(service)

    async def start(self) -> None:
        for service in self.services:
            service.launch()
        await asyncio.gather(*(asyncio.to_thread(one.await_ready) for one in self.services))

    async def stop(self) -> None:
        for service in reversed(self.services):
            await asyncio.to_thread(service.stop)


class Locks:
    """Looks for statements of the services that wait for a lock for too long."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.seen = 0

    async def watch(self) -> None:
        connection = await asyncpg.connect(self._database.admin)
        try:
            while True:
                self.seen += await connection.fetchval(WAITS)
                await asyncio.sleep(0.1)
        finally:
            await connection.close()


async def prove(ground: Ground, short: bool, seed: int) -> Proof:
    commit = previous_commit()
    assert commit is not None, "main looked"
    tree = unpack(commit, ground.folder / "previous")
    database = await create_database(ground.postgres.dsn(), "upgraded")
    await upgrade(database, tree)
    owner = await asyncpg.connect(database.owner)
    await owner.execute(FILL, _ROWS // (6 if short else 1))
    tokens, locks = Tokens.make(), Locks(database)
    old = Release(ground, database, tokens, tree, "old")
    new = Release(ground, database, tokens, ROOT, "new")
    await old.start()
    watching = asyncio.create_task(locks.watch())
    try:
        async with Client(old.url, tokens.write) as client:
            load = Load(client)
            loading = asyncio.create_task(load.go_on())
            await asyncio.sleep(3)
            kills = _SHORT_KILLS if short else _KILLS
            for _ in range(kills):
                await _killed_upgrade(database, ROOT)
            began = time.monotonic()
            await upgrade(database, ROOT)
            took = time.monotonic() - began
            await asyncio.sleep(3 if short else 10)
            await _end(loading)
        async with Client(new.url, tokens.write) as client:
            await new.start()
            after = Load(client)
            loading = asyncio.create_task(after.go_on())
            await asyncio.sleep(3 if short else 10)
            await _end(loading)
        waits = locks.seen
        control = await _control(database, owner, locks)
    finally:
        await _end(watching)
        await owner.close()
        await asyncio.gather(old.stop(), new.stop())
    failed = load.failed + after.failed
    return Proof(
        n=load.sent + after.sent,
        faults=1 + kills,
        violations=failed.total() + waits,
        control_violations=control,
        more={
            "previous": commit,
            "killed": kills,
            "failed": dict(failed),
            "lock_waits_above_2_s": waits,
            "upgrade_seconds": round(took, 1),
        },
    )


async def _control(database: Database, owner: asyncpg.Connection[asyncpg.Record], locks: Locks) -> int:
    """A transaction that builds an index plainly and takes its time, and a service that wants to write."""
    before = locks.seen
    writer = await asyncpg.connect(
        database.services["cache"],
        server_settings={"application_name": "scrubjay-control", "scrubjay.tenant": "control"},
    )
    async with owner.transaction():
        await owner.execute("create index control on cache.missions (created_at)")
        write = asyncio.create_task(
            writer.execute("insert into cache.missions (tenant, mission_id) values ('control', 'control')")
        )
        await asyncio.sleep(_LONGEST_WAIT + 1)
        await owner.execute("drop index cache.control")
    await write
    await writer.close()
    return locks.seen - before


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


def main() -> None:
    commit = previous_commit()
    if commit is None:
        print(
            "No migration was added since the first release, so there is no earlier schema to upgrade from."
        )
        print("PREVIOUS=commit names code to upgrade from.")
        return
    if not _exists(commit):
        sys.exit(f"PREVIOUS={commit} is no commit of this repository.")
    if changed := rewritten(commit):
        sys.exit(
            f"A database of {commit} cannot be upgraded: since then {', '.join(changed)} changed or went."
        )
    run("P9", SEED, prove)


if __name__ == "__main__":
    main()
