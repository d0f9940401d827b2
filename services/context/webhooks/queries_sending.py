"""The SQL that finds what a webhook sends next, leases it, and notes what came of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import asyncpg

from services.context.timeline.schemas import Event
from services.context.webhooks.queries import open_lanes
from services.context.webhooks.retrying import Outcome
from shared.database.postgres import Connection

TENANTS = """
select w.tenant from context.webhooks w join timeline.counters n on n.tenant = w.tenant
where w.status = 'active' and w.position < n.last
union
select w.tenant from context.webhooks w
where w.status = 'active' and exists (
    select from context.webhook_lanes l where l.tenant = w.tenant and l.webhook_id = w.id and l.due_at <= now())
order by tenant
"""


async def tenants(c: Connection) -> list[str]:
    """Those that have something to look at or to send."""
    return [row["tenant"] for row in await c.fetch(TENANTS)]


HOLDERS = "select distinct held_by from context.webhooks where tenant = $1 and status = 'active'"
VALID = """
select 'key:' || k.id as key from context.api_keys k
where k.tenant = $1 and 'key:' || k.id = any($2::text[]) and k.revoked_at is null and k.expires_at > now()
"""
# Whoever locks a webhook, such as a purge, must not hold up the other tenants' deliveries: the next look comes soon.
HELD_BY = """
select id from context.webhooks where tenant = $1 and status = 'active' and held_by = any($2::text[])
for update skip locked
"""


async def without_valid_key(c: Connection, tenant: str) -> list[int]:
    """The webhooks whose key is revoked or expired. A token of the environment has no end."""
    holders = {row["held_by"] for row in await c.fetch(HOLDERS, tenant)}
    keys = sorted(key for key in holders if key.startswith("key:"))
    valid = {row["key"] for row in await c.fetch(VALID, tenant, keys)} if keys else set()
    ended = [key for key in keys if key not in valid]
    return [row["id"] for row in await c.fetch(HELD_BY, tenant, ended)] if ended else []


# Skips a webhook that another replica plans now. A purge holds the lock too, so no event is planned that it erases.
BEHIND = """
select w.id, w.position, n.last, w.kinds, w.missions, w.agents, w.agent_bound, w.mission_bound, w.user_bound, w.held_by
from context.webhooks w join timeline.counters n on n.tenant = $1
where w.tenant = $1 and w.status = 'active' and w.position < n.last and w.id > $2 and w.id <> all($3::bigint[])
order by w.id limit 1 for update of w skip locked
"""
BACKLOG = """
select count(*) from (
    select from context.webhook_deliveries where tenant = $1 and webhook_id = $2 and status = 'waiting' limit $3) few
"""
# What the key that holds the webhook may read ($7 to $10), as the timeline shows it, and what the webhook wants.
NEW_EVENTS = """
select e.seq, e.scope, e.kind, e.created_at from timeline.events e
where e.tenant = $1 and e.seq > $2 and e.seq <= $3
  and ($4::text[] is null or e.kind = any($4)) and ($5::text[] is null or e.mission_id = any($5))
  and ($6::text[] is null or e.agent_name = any($6))
  and ($7::text is null or e.agent_name = $7) and ($8::text[] is null or e.mission_id = any($8))
  and ($9::text[] is null or e.scope not like 'user:%' or substr(e.scope, 6) = any($9))
  and ($10 or e.scope not like 'key:%')
order by e.seq
"""
PLAN = """
insert into context.webhook_deliveries (tenant, webhook_id, seq, scope, kind, event_at)
select $1, $2, g.seq, g.scope, g.kind, g.at
from unnest($3::bigint[], $4::text[], $5::text[], $6::timestamptz[]) g(seq, scope, kind, at)
on conflict (tenant, webhook_id, seq) do nothing
"""
MOVE = "update context.webhooks set position = $3 where tenant = $1 and id = $2"


async def behind(c: Connection, tenant: str, after: int, without: Sequence[int]) -> asyncpg.Record | None:
    """The next webhook that has not looked at all events, locked until the transaction ends."""
    return await c.fetchrow(BEHIND, tenant, after, without)


async def backlog(c: Connection, tenant: str, webhook_id: int, most: int) -> int:
    return int(await c.fetchval(BACKLOG, tenant, webhook_id, most))


async def plan(c: Connection, tenant: str, webhook: asyncpg.Record, last: int) -> int:
    """Makes deliveries of the events up to number `last`, and moves on. Returns how many."""
    names = ("kinds", "missions", "agents", "agent_bound", "mission_bound", "user_bound")
    filters = [webhook[name] for name in names]
    events = await c.fetch(
        NEW_EVENTS, tenant, webhook["position"], last, *filters, webhook["user_bound"] is None
    )
    if events:
        await open_lanes(c, tenant, webhook["id"], {event["scope"] for event in events})
        columns = ("seq", "scope", "kind", "created_at")
        values = ([event[column] for event in events] for column in columns)
        await c.execute(PLAN, tenant, webhook["id"], *values)
    await c.execute(MOVE, tenant, webhook["id"], last)
    return len(events)


class Lane(NamedTuple):
    webhook_id: int
    scope: str


# $2 says of each webhook how many lanes more are sent here, $3 of those that it does not know. Chance decides who comes
# first, so that those that always have something due leave room for the others.
DUE = """
select w.id as webhook_id, l.scope
from (select h.id from context.webhooks h where h.tenant = $1 and h.status = 'active' order by random()) w
cross join lateral (
    select d.scope from context.webhook_lanes d
    where d.tenant = $1 and d.webhook_id = w.id and d.due_at <= now() order by d.due_at
    limit coalesce(($2::jsonb ->> w.id::text)::int, $3::int)
    for update skip locked
) l
limit $4
"""
LEASE = """
update context.webhook_lanes l set due_at = now() + $4::int * interval '1 second', lease = $5
from unnest($2::bigint[], $3::text[]) g(webhook_id, scope)
where l.tenant = $1 and l.webhook_id = g.webhook_id and l.scope = g.scope
"""


async def lease(
    c: Connection, tenant: str, room: Mapping[str, int], others: int, most: int, seconds: int, mark: UUID
) -> list[Lane]:
    """Leases `most` lanes that are due: of each webhook as many as `room` says, or `others`."""
    lanes = [Lane(**row) for row in await c.fetch(DUE, tenant, dict(room), others, most)]
    if lanes:
        columns = ([lane.webhook_id for lane in lanes], [lane.scope for lane in lanes])
        await c.execute(LEASE, tenant, *columns, seconds, mark)
    return lanes


HEAD = """
select d.seq, d.attempts, w.url, w.secret, w.failing_since,
       case when w.old_secret_until > now() then w.old_secret end as old_secret,
       e.seq is null as erased, e.kind, e.scope, e.mission_id, e.agent_name,
       case when w.user_bound is null then e.session_id end as session_id, e.dispatch_id, e.payload, e.created_at
from context.webhooks w
join lateral (
    select seq, attempts, event_at from context.webhook_deliveries
    where tenant = $1 and webhook_id = $2 and scope = $3 and status = 'waiting' order by seq limit 1
) d on true
left join timeline.events e on e.tenant = $1 and e.seq = d.seq and e.created_at = d.event_at
where w.tenant = $1 and w.id = $2 and w.status = 'active'
"""


class Head(NamedTuple):
    """The next event of a lane. Without `event`, it was erased."""

    seq: int
    attempts: int
    url: str
    keys: list[bytes]
    failing: bool
    event: Event | None


async def head(c: Connection, tenant: str, lane: Lane) -> Head | None:
    row = await c.fetchrow(HEAD, tenant, *lane)
    if row is None:
        return None
    keys = [key for key in (row["secret"], row["old_secret"]) if key is not None]
    event = None if row["erased"] else Event(**{name: row[name] for name in Event.__struct_fields__})
    return Head(row["seq"], row["attempts"], row["url"], keys, row["failing_since"] is not None, event)


LOCK_LANE = """
select 1 from context.webhook_lanes where tenant = $1 and webhook_id = $2 and scope = $3 and lease = $4 for update
"""
NOTE = """
update context.webhook_deliveries
set status = $4, attempts = attempts + $5::int, http_status = $6, error = $7, attempted_at = now(),
    settled_at = case when $4 <> 'waiting' then now() end
where tenant = $1 and webhook_id = $2 and seq = $3 and status = 'waiting'
"""
CLOSE_LANE = """
delete from context.webhook_lanes l where l.tenant = $1 and l.webhook_id = $2 and l.scope = $3 and not exists (
    select from context.webhook_deliveries d
    where d.tenant = $1 and d.webhook_id = $2 and d.scope = $3 and d.status = 'waiting')
"""
# Null gives the lane back at once.
KEEP_LANE = """
update context.webhook_lanes set due_at = now() + coalesce($4::float8, 0) * interval '1 second', lease = $5
where tenant = $1 and webhook_id = $2 and scope = $3
"""


async def lock_lane(c: Connection, tenant: str, lane: Lane, mark: UUID) -> bool:
    """False when the lease has ended, and another has the lane."""
    return bool(await c.fetchval(LOCK_LANE, tenant, *lane, mark))


async def note(
    c: Connection, tenant: str, lane: Lane, seq: int, status: str, outcome: Outcome | None
) -> None:
    """Without an outcome there was no attempt."""
    came = (None, None) if outcome is None else (outcome.http_status, outcome.error)
    await c.execute(NOTE, tenant, lane.webhook_id, seq, status, int(outcome is not None), *came)


async def close_lane(c: Connection, tenant: str, lane: Lane) -> None:
    """Unless something waits in it: a webhook that is paused has no head."""
    await c.execute(CLOSE_LANE, tenant, *lane)


async def keep_lane(
    c: Connection, tenant: str, lane: Lane, seconds: float | None, mark: UUID | None = None
) -> None:
    await c.execute(KEEP_LANE, tenant, *lane, seconds, mark)


# As above: whoever locks the webhook must not hold up what others note. The next attempt tells the same.
LOCK_WEBHOOK = "select 1 from context.webhooks where tenant = $1 and id = $2 for update skip locked"
WORKS = "update context.webhooks set failing_since = null where tenant = $1 and id = $2 and failing_since is not null"
FAILS = """
update context.webhooks set failing_since = now()
where tenant = $1 and id = $2 and status = 'active' and failing_since is null
"""
FAILED_FOR = """
select failing_since < now() - $3::interval from context.webhooks where tenant = $1 and id = $2 and status = 'active'
"""


async def lock_webhook(c: Connection, tenant: str, webhook_id: int) -> bool:
    """False when somebody has it."""
    return bool(await c.fetchval(LOCK_WEBHOOK, tenant, webhook_id))


async def works(c: Connection, tenant: str, webhook_id: int) -> None:
    await c.execute(WORKS, tenant, webhook_id)


async def fails(c: Connection, tenant: str, webhook_id: int, longest: Any) -> bool:
    """Whether it has failed for `longest`."""
    await c.execute(FAILS, tenant, webhook_id)
    return bool(await c.fetchval(FAILED_FOR, tenant, webhook_id, longest))


SENDERS = "select distinct tenant from context.webhooks"
SWEEP = """
delete from context.webhook_deliveries d using (
    select webhook_id, seq from context.webhook_deliveries
    where tenant = $1 and (settled_at < statement_timestamp() - $3::interval
                           or status <> 'dead' and settled_at < statement_timestamp() - $2::interval)
    limit $4
) old
where d.tenant = $1 and d.webhook_id = old.webhook_id and d.seq = old.seq
"""
# What a paused webhook holds back is not late.
WAITING = """
select count(*) as waiting, min(d.event_at) as oldest from context.webhook_deliveries d
join context.webhooks w on w.tenant = d.tenant and w.id = d.webhook_id and w.status = 'active'
where d.status = 'waiting'
"""
UNPLANNED = """
select coalesce(sum(n.last - w.position), 0)::bigint as waiting, min(e.created_at) as oldest
from context.webhooks w
join timeline.counters n on n.tenant = w.tenant and n.last > w.position
left join lateral (
    select created_at from timeline.events where tenant = w.tenant and seq > w.position order by seq limit 1
) e on true
where w.status = 'active'
"""


async def senders(c: Connection) -> list[str]:
    """The tenants that have webhooks."""
    return [row["tenant"] for row in await c.fetch(SENDERS)]


async def sweep(c: Connection, tenant: str, settled: Any, dead: Any, limit: int) -> int:
    """Removes at most `limit`. Returns how many."""
    done = await c.execute(SWEEP, tenant, settled, dead, limit)
    return int(done.rsplit(" ", 1)[-1])


class Waiting(NamedTuple):
    waiting: int
    oldest: datetime | None


async def waiting(c: Connection) -> Waiting:
    """What the active webhooks have not sent yet, planned or not."""
    rows = [await c.fetchrow(WAITING), await c.fetchrow(UNPLANNED)]
    found = [Waiting(**row) for row in rows if row is not None]
    oldest = [each.oldest for each in found if each.oldest is not None]
    return Waiting(sum(each.waiting for each in found), min(oldest, default=None))
