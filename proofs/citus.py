"""The services work where Citus distributes the tables, and while it moves a tenant's rows to another node.

DSN is an administrator's address of a coordinator with two workers or more, in an empty database that
deploy/postgres/citus.sql has prepared. Every example of the API's document is played for one tenant. Then agents write
while the rows of their tenant move to another node and back; no request may fail, and a reader of the timeline must see
each write once and in order. The control is a statement that breaks a rule of the lint: Citus has to refuse it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import random
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import asyncpg

from local.database import Database, create_roles, migrate
from local.servers import Valkey
from proofs.ground import Proof, show
from proofs.restarts import Load
from proofs.timeline.reading import Reader
from shared.database.distribution import HANDED_ON
from shared.database.postgres import HAS_CITUS, Connection
from tests.support.cluster import Cluster
from tests.support.openapi import DOCUMENT
from tools.openapi.playing import Player

SEED = 20_275
TENANT = "default"
_PATIENCE = 60.0

WORKERS = """
select nodename, nodeport from pg_dist_node where noderole = 'primary' and shouldhaveshards order by nodeid
"""
PLACE = """
select s.shardid, s.nodename, s.nodeport from citus_shards s
where s.shardid = get_shard_id_for_distribution_column('cache.missions', $1)
"""
# The shards of all tables that stand beside this one move with it.
MOVE = "select citus_move_shard_placement($1, $2, $3, $4, $5, shard_transfer_mode := 'auto')"
REFUSED = "update cache.missions set last_write_at = clock_timestamp() where tenant = 'default'"


async def unusable(dsn: str) -> str | None:
    """Why the database cannot be used."""
    connection = await asyncpg.connect(dsn)
    try:
        if not await connection.fetchval(HAS_CITUS):
            return "the database has no extension citus"
        if not await connection.fetchval(HANDED_ON):
            return "citus.propagate_set_commands is not 'local'"
        if len(await connection.fetch(WORKERS)) < 2:
            return "a tenant moves between two nodes, and there are fewer"
        if await connection.fetchval("select to_regclass('public.alembic_version')"):
            return "the database is not empty"
    finally:
        await connection.close()
    return None


async def move(connection: Connection, tenant: str) -> None:
    """Moves the rows of the tenant to a node where they are not."""
    place = await connection.fetchrow(PLACE, tenant)
    assert place is not None
    here = (place["nodename"], place["nodeport"])
    there = next(tuple(node) for node in await connection.fetch(WORKERS) if tuple(node) != here)
    await connection.execute(MOVE, place["shardid"], *here, *there)


def played(cluster: Cluster) -> list[str]:
    """Examples whose answer is none of success."""
    player = Player(cluster.url(), cluster.tokens.admin, DOCUMENT)
    return [f"{one.example.operation} {one.status}" for one in player.play() if one.status >= 300]


async def prove(database: Database, redis_url: str, folder: Path) -> Proof:
    connection = await asyncpg.connect(database.admin)
    async with Cluster(database, redis_url, folder, replicas=2) as cluster, cluster.client("write") as client:
        failed = await asyncio.to_thread(played, cluster)
        load, reader = Load(client), Reader(client, random.Random(SEED), breaks=0, wanted=0)
        tasks = [asyncio.create_task(load.go_on()), asyncio.create_task(reader.follow())]
        for _ in range(2):
            await move(connection, TENANT)
        tasks[0].cancel()
        await asyncio.gather(tasks[0], return_exceptions=True)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PATIENCE):
                while not set(load.written) <= set(reader.seen):
                    await asyncio.sleep(0.1)
        tasks[1].cancel()
        await asyncio.gather(tasks[1], return_exceptions=True)
    missed, repeated = set(load.written) - set(reader.seen), len(reader.seen) - len(set(reader.seen))
    control = await _refuses(connection)
    await connection.close()
    return Proof(
        n=load.sent,
        faults=2,
        violations=len(failed) + load.failed.total() + len(missed) + repeated + reader.out_of_order,
        control_violations=int(control),
        more={"failed_examples": failed, "failed_requests": dict(load.failed), "missed": len(missed)},
    )


async def _refuses(connection: Connection) -> bool:
    try:
        await connection.execute(REFUSED)
    except asyncpg.FeatureNotSupportedError:
        return True
    return False


@contextlib.contextmanager
def beside(dsn: str) -> Iterator[tuple[Database, str, Path]]:
    """The migrated database, a Redis and a folder for logs."""
    folder = Path(tempfile.mkdtemp(prefix="scrubjay-citus-"))
    valkey = Valkey(folder / "valkey")
    try:
        valkey.start()
        asyncio.run(create_roles(dsn))
        database = Database.on(dsn, urlsplit(dsn).path.removeprefix("/"))
        migrate(database.owner, folder / "migrations.log", distributed="citus")
        yield database, valkey.url, folder
    finally:
        valkey.stop()
        shutil.rmtree(folder, ignore_errors=True)


def main() -> None:
    if not (dsn := os.environ.get("DSN")):
        sys.exit("DSN is missing: an administrator's address of a Citus coordinator, postgresql://...")
    if wrong := asyncio.run(unusable(dsn)):
        sys.exit(f"The database cannot be used: {wrong}.")
    started = time.monotonic()
    with beside(dsn) as (database, redis_url, folder):
        proof = asyncio.run(prove(database, redis_url, folder))
    show("citus", proof, SEED, time.monotonic() - started)


if __name__ == "__main__":
    main()
