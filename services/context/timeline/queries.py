"""The SQL of the timeline."""

from __future__ import annotations

from typing import Any

import asyncpg

from services.context.timeline.schemas import Event, Filter
from shared.auth import Principal
from shared.database.postgres import Connection

NUMBER_EVENTS = "select timeline.number_events($1)"


LAST_NUMBER = "select last from timeline.sequencer"


async def number_events(connection: Connection, limit: int) -> tuple[int, int]:
    """How many events this call numbered, and the last number that any replica gave."""
    numbered = int(await connection.fetchval(NUMBER_EVENTS, limit))
    return numbered, int(await connection.fetchval(LAST_NUMBER))


UNNUMBERED = "select count(*) from timeline.events where seq is null"


async def unnumbered(connection: Connection) -> int:
    return int(await connection.fetchval(UNNUMBERED))


# An event does not say whom its session is with. A key of some users ($11) sees no sessions, and no events in the scope
# of another user. Only $12 sees the events of keys, which hold their names.
READ_EVENTS = """
select seq, kind, scope, mission_id, agent_name, case when $11::text[] is null then session_id end as session_id,
       dispatch_id, payload, created_at
from timeline.events
where tenant = $1 and seq > $2
  and ($4::text is null or mission_id = $4) and ($5::text[] is null or kind = any($5))
  and ($6::bigint is null or dispatch_id = $6) and ($7::text is null or agent_name = $7)
  and created_at >= coalesce($8, '-infinity'::timestamptz)
  and ($9::text[] is null or mission_id = any($9)) and ($10::text is null or agent_name = $10)
  and ($11::text[] is null or scope not like 'user:%' or substr(scope, 6) = any($11))
  and ($12 or scope not like 'key:%')
order by seq limit $3
"""


async def read_events(
    connection: Connection,
    principal: Principal,
    wanted: Filter,
    after: int,
    limit: int,
) -> list[Event]:
    rows: list[asyncpg.Record] = await connection.fetch(
        READ_EVENTS,
        principal.tenant,
        after,
        limit,
        wanted.mission,
        wanted.kinds,
        wanted.dispatch_id,
        wanted.agent,
        wanted.since,
        principal.seen_missions(),
        principal.agent,
        principal.seen_users(),
        _sees_keys(principal),
    )
    return [Event(**dict(row)) for row in rows]


def _sees_keys(principal: Principal) -> bool:
    """A key of an agent or of missions sees no such event anyway, because it names neither."""
    return "admin" in principal.access and principal.users is None


LAST_EVENT = "select coalesce(max(seq), 0) from timeline.events where tenant = $1"


async def last_event(connection: Connection, tenant: str) -> int:
    return int(await connection.fetchval(LAST_EVENT, tenant))


MAINTAIN = "select timeline.maintain_partitions($1, $2::interval)"


async def maintain(connection: Connection, parent: str, keep: Any) -> None:
    await connection.execute(MAINTAIN, parent, keep)
