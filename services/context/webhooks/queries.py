"""The SQL of webhooks as callers manage them."""

from __future__ import annotations

from typing import Any, TypeAlias

import asyncpg

from services.context.webhooks.schemas import DeliveryStatus, WebhookInput
from shared.auth import Principal
from shared.database.postgres import Connection

Row: TypeAlias = asyncpg.Record

# Two that make a webhook at once take turns, so that both count the other's.
LOCK = "select pg_advisory_xact_lock(hashtextextended('webhooks' || chr(31) || $1, 4))"
COUNT = "select count(*) from context.webhooks where tenant = $1"
LAST = "select last from timeline.counters where tenant = $1"
ADD = """
insert into context.webhooks (tenant, url, description, kinds, missions, agents, held_by, agent_bound, mission_bound,
                              user_bound, secret, position)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) returning id
"""


async def count(c: Connection, tenant: str) -> int:
    """How many the tenant has. Nobody makes another until the transaction ends."""
    await c.execute(LOCK, tenant)
    return int(await c.fetchval(COUNT, tenant))


async def add(c: Connection, principal: Principal, given: WebhookInput, secret: bytes) -> int:
    last = await c.fetchval(LAST, principal.tenant) or 0
    made: int = await c.fetchval(
        ADD,
        *(principal.tenant, given.url, given.description, given.kinds, given.missions, given.agents),
        *(principal.key, principal.agent, principal.seen_missions(), principal.seen_users()),
        *(secret, last if given.after is None else min(given.after, last)),
    )
    return made


# $2 to $4 are the bounds of the calling key, which sees and manages only the webhooks within them.
_WITHIN = """
w.tenant = $1 and ($2::text is null or w.agent_bound = $2)
and ($3::text[] is null or w.mission_bound <@ $3) and ($4::text[] is null or w.user_bound <@ $4)
"""
_WEBHOOK = f"""
select w.id, w.url, w.kinds, w.missions, w.agents, w.description, w.status, w.paused_because, w.held_by, w.position,
       (select count(*) from (select from context.webhook_deliveries d
                              where d.tenant = $1 and d.webhook_id = w.id and d.status = 'waiting' limit 1000) few
       ) as waiting,
       (select count(*) from (select from context.webhook_deliveries d
                              where d.tenant = $1 and d.webhook_id = w.id and d.status = 'dead' limit 1000) few
       ) as dead,
       w.failing_since, case when w.old_secret_until > now() then w.old_secret_until end as old_secret_until,
       w.created_at, w.agent_bound, w.mission_bound, w.user_bound
from context.webhooks w where {_WITHIN}
"""
LIST_WEBHOOKS = f"{_WEBHOOK} and w.id > $5 order by w.id limit $6"
GET = f"{_WEBHOOK} and w.id = $5"
LOCK_ONE = f"select 1 from context.webhooks w where {_WITHIN} and w.id = $5 for update"


def _bounds(principal: Principal) -> tuple[Any, ...]:
    return principal.tenant, principal.agent, principal.seen_missions(), principal.seen_users()


async def list_webhooks(c: Connection, principal: Principal, after: int, limit: int) -> list[Row]:
    rows: list[Row] = await c.fetch(LIST_WEBHOOKS, *_bounds(principal), after, limit)
    return rows


async def get(c: Connection, principal: Principal, webhook_id: int) -> Row | None:
    return await c.fetchrow(GET, *_bounds(principal), webhook_id)


async def lock(c: Connection, principal: Principal, webhook_id: int) -> bool:
    return bool(await c.fetchval(LOCK_ONE, *_bounds(principal), webhook_id))


CHANGE = """
update context.webhooks set url = $3, description = $4, kinds = $5, missions = $6, agents = $7
where tenant = $1 and id = $2
"""
PAUSE = """
update context.webhooks set status = 'paused', paused_because = $3 where tenant = $1 and id = $2 and status = 'active'
"""
RESUME = """
update context.webhooks set status = 'active', paused_because = null, failing_since = null, held_by = $3,
       agent_bound = $4, mission_bound = $5, user_bound = $6
where tenant = $1 and id = $2
"""
WAKE = "update context.webhook_lanes set due_at = now(), lease = null where tenant = $1 and webhook_id = $2"


async def change(c: Connection, tenant: str, webhook_id: int, **given: Any) -> None:
    """`given`: url, description, kinds, missions and agents."""
    names = ("url", "description", "kinds", "missions", "agents")
    await c.execute(CHANGE, tenant, webhook_id, *(given[name] for name in names))


async def pause(c: Connection, tenant: str, webhook_id: int, reason: str) -> None:
    await c.execute(PAUSE, tenant, webhook_id, reason)


async def resume(c: Connection, principal: Principal, webhook_id: int) -> None:
    held = (principal.key, principal.agent, principal.seen_missions(), principal.seen_users())
    await c.execute(RESUME, principal.tenant, webhook_id, *held)
    await c.execute(WAKE, principal.tenant, webhook_id)


ROTATE = """
update context.webhooks
set secret = $3, old_secret = secret, old_secret_until = now() + $4::int * interval '1 second'
where tenant = $1 and id = $2
"""
DELETE = "delete from context.webhooks where tenant = $1 and id = $2"
SECRETS = """
select url, secret, case when old_secret_until > now() then old_secret end as old_secret, now() as now
from context.webhooks where tenant = $1 and id = $2
"""


async def rotate(c: Connection, tenant: str, webhook_id: int, secret: bytes, overlap_seconds: int) -> None:
    await c.execute(ROTATE, tenant, webhook_id, secret, overlap_seconds)


async def delete(c: Connection, tenant: str, webhook_id: int) -> None:
    await c.execute(DELETE, tenant, webhook_id)


async def secrets(c: Connection, tenant: str, webhook_id: int) -> Row | None:
    return await c.fetchrow(SECRETS, tenant, webhook_id)


DELIVERIES = """
select d.seq, d.kind, d.scope, d.status, d.attempts, d.http_status, d.error, d.event_at, d.attempted_at
from context.webhook_deliveries d
where d.tenant = $1 and d.webhook_id = $2 and ($3::bigint is null or d.seq < $3)
  and ($4::text is null or d.status = $4)
order by d.seq desc limit $5
"""


async def deliveries(
    c: Connection, tenant: str, webhook_id: int, before: int | None, status: DeliveryStatus | None, limit: int
) -> list[Row]:
    rows: list[Row] = await c.fetch(DELIVERIES, tenant, webhook_id, before, status, limit)
    return rows


FIND_DEAD = """
select seq, scope from context.webhook_deliveries
where tenant = $1 and webhook_id = $2 and status = 'dead' order by seq limit $3
"""
FIND_SETTLED = """
select seq, scope from context.webhook_deliveries
where tenant = $1 and webhook_id = $2 and seq = $3 and status in ('dead', 'delivered')
"""
# A lane is locked before its deliveries are.
OPEN_LANES = """
insert into context.webhook_lanes (tenant, webhook_id, scope)
select $1, $2, s from unnest($3::text[]) s order by s
on conflict (tenant, webhook_id, scope) do update set due_at = webhook_lanes.due_at
"""
AGAIN = """
update context.webhook_deliveries set status = 'waiting', attempts = 0, settled_at = null
where tenant = $1 and webhook_id = $2 and seq = any($3) and status in ('dead', 'delivered')
"""


async def open_lanes(c: Connection, tenant: str, webhook_id: int, scopes: set[str]) -> None:
    """Locks the lanes until the transaction ends, those that are there too."""
    await c.execute(OPEN_LANES, tenant, webhook_id, sorted(scopes))


async def again(c: Connection, tenant: str, webhook_id: int, seq: int | None, limit: int) -> int:
    """Puts a settled event, or the first dead letters, back. Returns how many."""
    if seq is None:
        rows = await c.fetch(FIND_DEAD, tenant, webhook_id, limit)
    else:
        rows = await c.fetch(FIND_SETTLED, tenant, webhook_id, seq)
    if not rows:
        return 0
    await open_lanes(c, tenant, webhook_id, {row["scope"] for row in rows})
    done = await c.execute(AGAIN, tenant, webhook_id, [row["seq"] for row in rows])
    return int(done.rsplit(" ", 1)[-1])
