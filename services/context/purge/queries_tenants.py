"""The SQL that erases a tenant from the context service, and keeps track of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from shared.database.erasure import ERASED
from shared.database.postgres import Connection

# Everyone waits for one transaction here, so that a key that is being made is revoked, too.
MARK = "select timeline.mark_erased($1, array[''])"
NOTE = """
insert into context.tenant_purges (tenant, actor, request_id) values ($1, $2, $3)
on conflict (tenant) do update set worked_at = clock_timestamp()
returning extract(epoch from clock_timestamp() - begun_at)::float8
"""
# The key that asks stays valid to the end, so that it can ask again.
REVOKE = """
update context.api_keys
set revoked_at = clock_timestamp(), old_token_hash = null, old_expires_at = null
where tenant = $1 and revoked_at is null and 'key:' || id <> $2
"""


async def begin(connection: Connection, tenant: str, actor: str, request_id: str | None) -> float:
    """Returns the seconds since the purge first began."""
    await connection.execute(MARK, tenant)
    seconds: float = await connection.fetchval(NOTE, tenant, actor, request_id)
    await connection.execute(REVOKE, tenant, actor)
    return seconds


ERASE = "select context.erase_tenant($1, $2)"
COUNT = """
update context.tenant_purges
set worked_at = clock_timestamp(), erased = jsonb_set(erased, array[$2], coalesce(erased -> $2, '{}') || (
    select coalesce(jsonb_object_agg(n.key, n.value::bigint + coalesce((erased -> $2 ->> n.key)::bigint, 0)), '{}')
    from jsonb_each_text($3) n))
where tenant = $1
"""


async def erase(connection: Connection, tenant: str, limit: int) -> dict[str, int]:
    """Erases at most `limit` rows of each table. Returns the rows by table."""
    erased: dict[str, int] = await connection.fetchval(ERASE, tenant, limit)
    return erased


async def count(connection: Connection, tenant: str, service: str, erased: Mapping[str, int]) -> None:
    """Adds to what the receipt will say, so that it is complete after an interruption."""
    await connection.execute(COUNT, tenant, service, erased)


KEYS = "delete from context.api_keys where tenant = $1 returning id"
FORGET_AUDIT = "select timeline.forget_audit($1, null)"
RECORD = """
select timeline.record_audit($2, actor, null, request_id, 'purge', 'tenant', '{}', null, erased)
from context.tenant_purges where tenant = $1
"""
END = "delete from context.tenant_purges where tenant = $1 returning erased"


async def erase_keys(connection: Connection, tenant: str) -> list[int]:
    return [row["id"] for row in await connection.fetch(KEYS, tenant)]


async def end(connection: Connection, tenant: str) -> dict[str, dict[str, int]] | None:
    """Leaves a row without names in the audit. Returns what was erased; None when another replica ended the purge."""
    await connection.execute(FORGET_AUDIT, tenant)
    await connection.execute(RECORD, tenant, ERASED)
    erased: dict[str, dict[str, int]] | None = await connection.fetchval(END, tenant)
    return erased


class Interrupted(NamedTuple):
    tenant: str
    actor: str


# $1 in seconds: longer than any step takes.
INTERRUPTED = """
select tenant, actor from context.tenant_purges
where worked_at < clock_timestamp() - $1::float8 * interval '1 second' order by begun_at limit 10
"""


async def interrupted(connection: Connection, seconds: float) -> list[Interrupted]:
    return [Interrupted(**row) for row in await connection.fetch(INTERRUPTED, seconds)]
