"""The SQL of the timeline."""

from __future__ import annotations

from typing import Any, NamedTuple

import asyncpg

from services.context.timeline.schemas import Event, Filter
from shared.auth import Principal
from shared.database.postgres import Connection


class Turn(NamedTuple):
    """How many events of a tenant a call numbered, and the tenant's last number.

    `last` is None where another replica numbers the tenant's events now, and 0 before the first event.
    """

    numbered: int
    last: int | None


NUMBER_EVENTS = "select numbered, last_number from timeline.number_tenant($1, $2)"


async def number_events(connection: Connection, tenant: str, limit: int) -> Turn:
    row = await connection.fetchrow(NUMBER_EVENTS, tenant, limit)
    assert row is not None
    return Turn(row["numbered"], row["last_number"])


TENANTS_WAITING = "select tenant from timeline.tenants_waiting() tenant"


async def tenants_waiting(connection: Connection) -> list[str]:
    """The tenants with events that have no number."""
    return [row["tenant"] for row in await connection.fetch(TENANTS_WAITING)]


LAST_NUMBERS = "select tenant, last from timeline.counters where tenant = any($1)"


async def last_numbers(connection: Connection, tenants: list[str]) -> dict[str, int]:
    rows = await connection.fetch(LAST_NUMBERS, tenants) if tenants else []
    return {row["tenant"]: row["last"] for row in rows}


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


LAST_NUMBER = "select last from timeline.counters where tenant = $1"


async def last_number(connection: Connection, tenant: str) -> int:
    """0 where no event of the tenant has a number."""
    return await connection.fetchval(LAST_NUMBER, tenant) or 0


MAINTAIN = "select timeline.maintain_partitions($1, $2::interval)"


async def maintain(connection: Connection, parent: str, keep: Any) -> None:
    await connection.execute(MAINTAIN, parent, keep)
