"""Two readers that miss events, as one would build them without numbers given after the commit."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field

import asyncpg
from redis.exceptions import RedisError

from shared.database.doorbell import CHANNEL, connect
from shared.database.postgres import Connection

_LOOK_SECONDS = 0.02
_BY_ID = """
select id, (payload->>'id')::bigint as entry from timeline.events
where kind = 'cache_write' and id > $1 order by id
"""
_LATE = """
insert into timeline.events (tenant, scope, kind, mission_id, payload)
values ('default', 'mission:late', 'cache_write', 'late', jsonb_build_object('id', $1::bigint)) returning id
"""
LATE_COMMITS = 10
_LAST = "select coalesce(max(seq), 0) from timeline.events where tenant = 'default'"
_SINCE = """
select seq, (payload->>'id')::bigint as entry from timeline.events
where tenant = 'default' and kind = 'cache_write' and seq > $1 order by seq
"""


@dataclass
class ById:
    """The order of ids is not that of commits."""

    connection: Connection
    last: int = 0
    seen: set[int] = field(default_factory=set)

    async def follow(self) -> None:
        while True:
            for row in await self.connection.fetch(_BY_ID, self.last):
                self.last = row["id"]
                self.seen.add(row["entry"])
            await asyncio.sleep(_LOOK_SECONDS)


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


@dataclass
class ByRings:
    """Redis keeps nothing for who is away: each time that this one subscribes, it begins with what is new then."""

    connection: Connection
    redis_url: str
    seen: set[int] = field(default_factory=set)

    async def follow(self) -> None:
        while True:
            client = connect(self.redis_url, socket_timeout=None)
            try:
                async with client.pubsub() as pubsub:
                    await pubsub.psubscribe(CHANNEL + "*")
                    last = await self.connection.fetchval(_LAST)
                    async for _ in pubsub.listen():
                        for row in await self.connection.fetch(_SINCE, last):
                            last = row["seq"]
                            self.seen.add(row["entry"])
            except (RedisError, OSError, TimeoutError):
                await asyncio.sleep(_LOOK_SECONDS)
            finally:
                with contextlib.suppress(RedisError, OSError):
                    await client.aclose()
