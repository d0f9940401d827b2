"""Kills of the cache service and of its connections, while sessions are written."""

from __future__ import annotations

import asyncio
import random
from contextlib import AsyncExitStack

import asyncpg

from tests.support.calls import until
from tests.support.cluster import Client, Cluster
from tests.support.sessions.writing import SESSIONS, WRITERS, Ledger, compact, follow, write

_SHORTEST, _LONGEST = 0.2, 1.0
_END_CONNECTIONS = """
select count(pg_terminate_backend(pid)) from pg_stat_activity
where usename like '%cache%' and pid <> pg_backend_pid()
"""


async def disturbed(cluster: Cluster, superuser: str, session: str, kills: int, seed: int) -> Ledger:
    """Writes to the session through kills of the replicas in turn, with the ends of all connections in between."""
    ledger, ended = Ledger(), asyncio.Event()
    async with AsyncExitStack() as closing:
        clients = [await closing.enter_async_context(cluster.client()) for _ in range(WRITERS)]
        writers = [write(each, session, f"w{n}", ledger, ended) for n, each in enumerate(clients)]
        others = [compact(clients[0], session, ledger, ended), follow(clients[1], session, ledger, ended)]
        working = asyncio.gather(*writers, *others)
        try:
            await _kill(cluster, superuser, kills, random.Random(seed))
        finally:
            ended.set()
            await working
    return ledger


async def _kill(cluster: Cluster, superuser: str, kills: int, chance: random.Random) -> None:
    replicas = cluster.replicas["cache"]
    sql = await asyncpg.connect(superuser)
    try:
        for number in range(kills):
            await asyncio.sleep(chance.uniform(_SHORTEST, _LONGEST))
            replica = replicas[number % len(replicas)]
            await asyncio.to_thread(replica.kill)
            await asyncio.sleep(chance.uniform(0, _SHORTEST))
            await sql.execute(_END_CONNECTIONS)
            await cluster.start(replica)
    finally:
        await sql.close()


async def began(client: Client, name: str) -> str:
    """The path of a session of this name. A service that answers before it commits does not find it at once."""

    async def ask() -> str:
        made = await client.post(SESSIONS, {"external_id": name, "agent_name": "scout"})
        assert made.status == 201, made
        return f"{SESSIONS}/{made.body['data']['id']}"

    return await until(ask)
