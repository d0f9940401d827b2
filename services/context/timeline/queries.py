"""The SQL of the timeline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import asyncpg

from services.context.timeline.schemas import Event
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


READ_EVENTS = """
select seq, kind, scope, mission_id, agent_name, session_id, dispatch_id, payload, created_at
from timeline.events
where tenant = $1 and seq > $2
  and ($4::text is null or mission_id = $4) and ($5::text is null or kind = $5)
  and ($6::bigint is null or dispatch_id = $6)
  and ($7::text[] is null or mission_id = any($7)) and ($8::text is null or agent_name = $8)
order by seq limit $3
"""


async def read_events(
    connection: Connection,
    tenant: str,
    after: int,
    limit: int,
    *,
    mission: str | None,
    kind: str | None,
    dispatch_id: int | None,
    missions: Sequence[str] | None,
    agent: str | None,
) -> list[Event]:
    rows: list[asyncpg.Record] = await connection.fetch(
        READ_EVENTS, tenant, after, limit, mission, kind, dispatch_id, missions, agent
    )
    return [Event(**dict(row)) for row in rows]


LAST_EVENT = "select coalesce(max(seq), 0) from timeline.events where tenant = $1"


async def last_event(connection: Connection, tenant: str) -> int:
    return int(await connection.fetchval(LAST_EVENT, tenant))


MAINTAIN = "select timeline.maintain_partitions($1, $2::interval)"


async def maintain(connection: Connection, parent: str, keep: Any) -> None:
    await connection.execute(MAINTAIN, parent, keep)
