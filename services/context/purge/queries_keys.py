"""The SQL that takes a mission, an agent or a user out of the keys that are bound to it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from shared.database.erasure import ERASED
from shared.database.postgres import Connection

# $2 is the kind and $3 the name.
_BOUND_TO_IT = """
case $2 when 'agent' then agent_name = $3 when 'user' then users = array[$3] else missions = array[$3] end
"""
# The caller's own key ($4) stays: whoever holds it can ask again, and withdraw it.
REVOKE = f"""
update context.api_keys
set revoked_at = clock_timestamp(), old_token_hash = null, old_expires_at = null
where tenant = $1 and revoked_at is null and 'key:' || id <> $4 and {_BOUND_TO_IT}
"""
SECONDS_SINCE = f"""
select extract(epoch from clock_timestamp() - max(revoked_at))::float8 from context.api_keys
where tenant = $1 and 'key:' || id <> $4 and {_BOUND_TO_IT}
"""


async def revoke(connection: Connection, tenant: str, kind: str, name: str, caller: str) -> float | None:
    """Revokes the keys that are bound to it alone. Returns the seconds since the last one was revoked, if any."""
    await connection.execute(REVOKE, tenant, kind, name, caller)
    seconds: float | None = await connection.fetchval(SECONDS_SINCE, tenant, kind, name, caller)
    return seconds


ERASE_NAMES = f"""
update context.api_keys
set name = '{ERASED}', agent_name = case when agent_name is not null then '{ERASED}' end,
    revoked_at = coalesce(revoked_at, clock_timestamp()), old_token_hash = null, old_expires_at = null
where tenant = $1 and 'key:' || id <> $4 and {_BOUND_TO_IT} returning id
"""
# A list that becomes empty grants nothing.
NARROW = """
update context.api_keys set users = array_remove(users, case when $2 = 'user' then $3 end),
    missions = array_remove(missions, case when $2 = 'mission' then $3 end)
where tenant = $1 and 'key:' || id <> $4
  and case $2 when 'user' then $3 = any (users) when 'mission' then $3 = any (missions) else false end
"""
ERASE_USAGE = "delete from context.api_key_usage where tenant = $1 and key_id = any ($2)"
ERASE_EVENTS = """
delete from timeline.events where tenant = $1 and scope in (select 'key:' || id from unnest($2::bigint[]) id)
"""


async def erase(connection: Connection, tenant: str, kind: str, name: str, caller: str) -> Counter[str]:
    """Revokes the keys that are bound to it alone, and takes the names out. Returns rows by table."""
    ids = [row["id"] for row in await connection.fetch(ERASE_NAMES, tenant, kind, name, caller)]
    await connection.execute(NARROW, tenant, kind, name, caller)
    return await _forget(connection, tenant, ids) if ids else Counter()


async def _forget(connection: Connection, tenant: str, ids: Sequence[int]) -> Counter[str]:
    counts = {"api_keys": len(ids)}
    for table, statement in (("api_key_usage", ERASE_USAGE), ("events", ERASE_EVENTS)):
        counts[table] = int((await connection.execute(statement, tenant, ids)).rsplit(" ", 1)[-1])
    return Counter(counts)
