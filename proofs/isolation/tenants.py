"""`make proof-tenants`, P7: no tenant sees or changes what is another's, through PgBouncer in transaction mode.

Keys of other tenants attack every operation, tool and resource, while the services' transactions share a few
connections to the server. The controls are services whose statements do not compare with their tenant.
"""

from __future__ import annotations

import asyncio
from functools import partial

import asyncpg

from local.database import SERVICE_ROLES, Database, create_database
from proofs.ground import Ground, Proof, run
from proofs.isolation.arena import VAULT, Arena, judged, open_cluster
from proofs.isolation.bouncer import Bouncer
from tests.support.attacks.attackers import ATTACKERS
from tests.support.cluster import Cluster

SEED = 7
ROUNDS, SHORT_ROUNDS = 8, 1
# In the short form, each makes one of so many attempts.
_SHORT_SHARE = 2
_SERVERS = """
select count(*) from pg_stat_activity where usename = any($1::text[]) and datname = current_database()
"""
_STRANGERS = [attacker for attacker in ATTACKERS if attacker.stranger]


async def prove(ground: Ground, short: bool, seed: int) -> Proof:
    share = _SHORT_SHARE if short else 1
    bouncer = Bouncer(ground.folder / "pgbouncer", ground.postgres)
    other = await create_database(ground.postgres.dsn(), "forgetful", template=ground.database.name)
    bouncer.start()
    try:
        async with _cluster(ground, bouncer, other) as cluster:
            control = await _arena(ground, cluster, other).attack(
                _STRANGERS[0], slice(None, None, share), first=partial(_forget_tenants, cluster)
            )
        async with _cluster(ground, bouncer, ground.database) as cluster:
            arena = _arena(ground, cluster, ground.database)
            strangers = _STRANGERS * (SHORT_ROUNDS if short else ROUNDS)
            ledgers = await asyncio.gather(
                *(arena.attack(one, slice(place % share, None, share)) for place, one in enumerate(strangers))
            )
            servers = await _servers(ground)
    finally:
        bouncer.stop()
    caught = len(control.leaks) + len(control.effects)
    return judged(control, ledgers, caught, server_connections=servers)


def _cluster(ground: Ground, bouncer: Bouncer, database: Database) -> Cluster:
    folder = ground.folder / database.name
    folder.mkdir()
    return open_cluster(ground, bouncer.before(database), folder)


def _arena(ground: Ground, cluster: Cluster, database: Database) -> Arena:
    return Arena(cluster, database.admin, ground.folder / database.name / VAULT)


async def _forget_tenants(cluster: Cluster) -> None:
    await cluster.stop(*cluster.all)
    for service in cluster.all:
        service.variables["BENCH_SERVICE"] = service.module.removeprefix("services.")
        service.module = "proofs.isolation.forgetful"
    await cluster.start(*cluster.all)


async def _servers(ground: Ground) -> int:
    """How many connections to the server the services share."""
    connection = await asyncpg.connect(ground.database.admin)
    try:
        return int(await connection.fetchval(_SERVERS, list(SERVICE_ROLES.values())))
    finally:
        await connection.close()


if __name__ == "__main__":
    run("P7", SEED, prove)
