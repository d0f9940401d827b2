"""The SQL of API keys. Days are UTC, by the database's clock."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeAlias

import asyncpg

from services.context.keys.schemas import Limits
from shared.auth import Principal
from shared.database.postgres import Connection

Row: TypeAlias = asyncpg.Record

_TODAY = "(now() at time zone 'utc')::date"
_LIMITS = "k.requests_per_second, k.burst, k.requests_per_day, k.tokens_per_day"

# The id of a key by its name, if it is the name of a key. Not the other way round, so that an index finds the key; nor
# with a column in the condition itself, where the policy of the table would keep it from its index.
_KEY_ID = "case when {name} ~ '^key:[0-9]{{1,18}}$' then substr({name}, 5)::bigint end"
# Who made a key stands in its row; this is the id of the key that made it, if a key did.
_MAKER = f"{_KEY_ID.format(name='k.created_by')} as maker"
# A valid key, and behind it the keys that it descends from. Includes the seconds until it expires (null: never) and
# until the day ends, so that only the database's clock counts.
FIND_KEY = f"""
with recursive line as (
    select k.*, 0 as generation, {_MAKER} from context.api_keys k
    where (k.token_hash = $1 or (k.old_token_hash = $1 and k.old_expires_at > now()))
      and k.revoked_at is null and k.expires_at > now()
    union all
    select k.*, line.generation + 1, {_MAKER} from line
    join context.api_keys k on k.tenant = line.tenant and k.id = line.maker and k.revoked_at is null
)
select k.tenant, k.id, k.access, l.language, k.agent_name, k.missions, k.users, {_LIMITS},
       coalesce(u.requests, 0) as requests, coalesce(u.tokens, 0) as tokens,
       extract(epoch from nullif(
           case when k.token_hash = $1 then k.expires_at else least(k.expires_at, k.old_expires_at) end,
           'infinity') - now())::float8 as seconds,
       extract(epoch from {_TODAY} + 1 - (now() at time zone 'utc'))::float8 as day_seconds
from line k
left join context.languages l on l.tenant = k.tenant
left join context.api_key_usage u on u.tenant = k.tenant and u.key_id = k.id and u.day = {_TODAY}
order by k.generation
"""


async def find_key(connection: Connection, token_hash: bytes) -> list[Row]:
    """A valid key, by either of its secrets, and then the key that made it, and so on. Empty: it is not valid."""
    rows: list[Row] = await connection.fetch(FIND_KEY, token_hash)
    return rows


# Locks the maker's key, so that nobody can revoke it until the transaction ends.
FIND_MAKER = f"""
select nullif(k.expires_at, 'infinity') as expires_at, {_LIMITS} from context.api_keys k
where k.tenant = $1 and k.id = {_KEY_ID.format(name="$2::text")} and k.revoked_at is null and k.expires_at > now()
for share
"""


async def find_maker(connection: Connection, principal: Principal) -> Row | None:
    return await connection.fetchrow(FIND_MAKER, principal.tenant, principal.key)


# How many keys a key descends from, and itself.
GENERATIONS = f"""
with recursive line as (
    select k.tenant, {_MAKER} from context.api_keys k
    where k.tenant = $1 and k.id = {_KEY_ID.format(name="$2::text")}
    union all
    select k.tenant, {_MAKER} from line join context.api_keys k on k.tenant = line.tenant and k.id = line.maker
)
select count(*) from line
"""


async def generations(connection: Connection, principal: Principal) -> int:
    return int(await connection.fetchval(GENERATIONS, principal.tenant, principal.key))


ADD_KEY = """
insert into context.api_keys (tenant, name, token_hash, access, agent_name, missions, users, expires_at, created_by,
                              requests_per_second, burst, requests_per_day, tokens_per_day)
values ($1, $2, $3, $4, $5, $6, $7,
        coalesce(least($8::timestamptz, now() + $14::float8 * interval '1 day'), 'infinity'), $9, $10, $11, $12, $13)
returning case when expires_at > now() then id end
"""


async def add_key(
    connection: Connection,
    tenant: str,
    name: str,
    token_hash: bytes,
    access: Sequence[str],
    agent: str | None,
    missions: Sequence[str] | None,
    users: Sequence[str] | None,
    expires_at: datetime | None,
    created_by: str,
    limits: Limits,
    most_days: float | None = None,
) -> int | None:
    """The key's id, or None if it has already expired and must not be committed. It ends after `most_days`, if not
    sooner."""
    made: int | None = await connection.fetchval(
        ADD_KEY,
        *(tenant, name, token_hash, access, agent, missions, users, expires_at, created_by),
        *(limits.requests_per_second, limits.burst, limits.requests_per_day, limits.tokens_per_day),
        most_days,
    )
    return made


# $2 to $4 are the bounds of the calling key, which sees and manages only the keys within them.
_WITHIN = """
k.tenant = $1 and ($2::text is null or k.agent_name = $2)
and ($3::text[] is null or k.missions <@ $3) and ($4::text[] is null or k.users <@ $4)
"""
_KEY = f"""
select k.id, k.tenant, k.name, k.access, k.agent_name as agent, k.missions, k.users, {_LIMITS},
       k.created_at, k.created_by, nullif(k.expires_at, 'infinity') as expires_at, k.revoked_at,
       case when k.revoked_at is not null then 'revoked' when k.expires_at <= now() then 'expired'
            else 'active' end as status,
       case when k.old_expires_at > now() then k.old_expires_at end as old_secret_until,
       (select max(last_used_at) from context.api_key_usage where tenant = k.tenant and key_id = k.id) as last_used_at,
       coalesce(u.requests, 0) as requests_today, coalesce(u.tokens, 0) as tokens_today
from context.api_keys k
left join context.api_key_usage u on u.tenant = k.tenant and u.key_id = k.id and u.day = {_TODAY}
where {_WITHIN}
"""
LIST_KEYS = f"{_KEY} and k.id > $5 order by k.id limit $6"
GET_KEY = f"{_KEY} and k.id = $5"
LOCK_KEY = f"select 1 from context.api_keys k where {_WITHIN} and k.id = $5 for update"


def _bounds(principal: Principal) -> tuple[Any, ...]:
    return (
        principal.tenant,
        principal.agent,
        principal.seen_missions(),
        principal.seen_users(),
    )


async def list_keys(connection: Connection, principal: Principal, after: int, limit: int) -> list[Row]:
    rows: list[Row] = await connection.fetch(LIST_KEYS, *_bounds(principal), after, limit)
    return rows


async def get_key(connection: Connection, principal: Principal, key_id: int) -> Row | None:
    return await connection.fetchrow(GET_KEY, *_bounds(principal), key_id)


async def lock_key(connection: Connection, principal: Principal, key_id: int) -> bool:
    return bool(await connection.fetchval(LOCK_KEY, *_bounds(principal), key_id))


CHANGE_KEY = """
update context.api_keys
set name = $3, requests_per_second = $4, burst = $5, requests_per_day = $6, tokens_per_day = $7
where tenant = $1 and id = $2
"""
# At most two secrets are valid: an older one ends at once.
ROTATE_KEY = """
update context.api_keys
set token_hash = $3, old_token_hash = token_hash, old_expires_at = now() + $4 * interval '1 second'
where tenant = $1 and id = $2
"""
# Locks keys in the order of their ids: a key is older than those that it made.
REVOKE_FAMILY = """
with recursive family as (
    select $2::bigint as id
    union
    select k.id from family f join context.api_keys k on k.tenant = $1 and k.created_by = 'key:' || f.id
), valid as materialized (
    select k.id from family f join context.api_keys k on k.tenant = $1 and k.id = f.id
    where k.revoked_at is null order by k.id for update of k
)
update context.api_keys k set revoked_at = now(), old_token_hash = null, old_expires_at = null
from valid where k.tenant = $1 and k.id = valid.id
returning k.id
"""
ADD_EVENTS = """
insert into timeline.events (tenant, scope, kind, payload)
select $1, 'key:' || id, $3, jsonb_build_object('id', id, 'name', name, 'by', $4::text)
from context.api_keys where tenant = $1 and id = any($2::bigint[]) order by id
"""


async def change_key(connection: Connection, tenant: str, key_id: int, name: str, limits: Limits) -> None:
    await connection.execute(
        CHANGE_KEY,
        *(tenant, key_id, name),
        *(limits.requests_per_second, limits.burst, limits.requests_per_day, limits.tokens_per_day),
    )


async def rotate_key(
    connection: Connection, tenant: str, key_id: int, token_hash: bytes, overlap_seconds: int
) -> None:
    await connection.execute(ROTATE_KEY, tenant, key_id, token_hash, overlap_seconds)


async def revoke_family(connection: Connection, tenant: str, key_id: int) -> list[int]:
    """Revokes a key, those that it made, and so on. Returns those that were valid until now.

    A key that somebody makes meanwhile is not in the statement's snapshot, so it runs until it finds none. By then all
    possible makers are revoked and locked.
    """
    revoked: list[int] = []
    while rows := await connection.fetch(REVOKE_FAMILY, tenant, key_id):
        revoked += [row["id"] for row in rows]
    return sorted(revoked)


async def add_events(connection: Connection, tenant: str, key_ids: Sequence[int], kind: str, by: str) -> None:
    """Records who did what to which keys, never a secret."""
    await connection.execute(ADD_EVENTS, tenant, key_ids, kind, by)


# Every replica uses the same order, so that they cannot deadlock. A key that a purge is erasing has no usage any more.
COUNT_USAGE = f"""
with used as materialized (
    select k.tenant, k.id as key_id, g.requests, g.tokens
    from unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[]) g(tenant, key_id, requests, tokens)
    join context.api_keys k on k.tenant = g.tenant and k.id = g.key_id
    order by k.tenant, k.id for key share of k
)
insert into context.api_key_usage as u (tenant, key_id, day, requests, tokens)
select tenant, key_id, {_TODAY}, requests, tokens from used order by tenant, key_id
on conflict (tenant, key_id, day) do update set requests = u.requests + excluded.requests,
    tokens = u.tokens + excluded.tokens, last_used_at = clock_timestamp()
returning tenant, key_id, requests, tokens
"""
SWEEP_USAGE = f"delete from context.api_key_usage where day < {_TODAY} - $1::int"


async def count_usage(
    connection: Connection,
    tenants: Sequence[str],
    ids: Sequence[int],
    requests: Sequence[int],
    tokens: Sequence[int],
) -> list[Row]:
    """Adds to each key's counts of today, and returns the new counts of the keys that exist."""
    rows: list[Row] = await connection.fetch(COUNT_USAGE, tenants, ids, requests, tokens)
    return rows


async def sweep_usage(connection: Connection, days: int) -> None:
    await connection.execute(SWEEP_USAGE, days)
