"""The SQL of profiles."""

from __future__ import annotations

from collections.abc import Sequence

import asyncpg

from services.context.profiles.schemas import Profile, ProfileInput
from shared.auth import Principal
from shared.database.postgres import Connection
from shared.provenance import Origin

_PROFILE = """
case when scope like 'agent:%' then substr(scope, 7) end as agent_name,
case when scope like 'user:%' then substr(scope, 6) end as user_id,
text, background, written_by, source_kind, source_claim, updated_at
"""
OF = f"select {_PROFILE} from context.profiles where tenant = $1 and scope = any($2::text[]) order by scope"


async def profiles_of(c: Connection, tenant: str, scopes: Sequence[str]) -> list[Profile]:
    """Those of these subjects, agents' first."""
    return _profiles(await c.fetch(OF, tenant, list(scopes)))


ANY = "select exists (select from context.profiles where tenant = $1)"


async def has_any(c: Connection, tenant: str) -> bool:
    return bool(await c.fetchval(ANY, tenant))


# A key that is bound to an agent or to users reads only theirs.
LIST = f"""
select {_PROFILE} from context.profiles
where tenant = $1 and ($2::text[] is null or scope = any($2))
  and ($3::text is null or scope not like 'agent:%' or scope = 'agent:' || $3)
  and ($4::text[] is null or scope not like 'user:%' or substr(scope, 6) = any($4))
  and scope collate "C" > coalesce($5, '') order by scope collate "C" limit $6
"""


async def list_profiles(
    c: Connection, principal: Principal, scopes: list[str] | None, *, after: str | None, limit: int
) -> list[Profile]:
    """In the order of their scopes. `scopes` narrows the list to these."""
    users = principal.seen_users()
    return _profiles(await c.fetch(LIST, principal.tenant, scopes, principal.agent, users, after, limit))


PUT = f"""
insert into context.profiles (tenant, scope, text, background, written_by, source_kind, source_claim)
values ($1, $2, $3, $4, $5, $6, $7)
on conflict (tenant, scope) do update
set text = excluded.text, background = excluded.background, written_by = excluded.written_by,
    source_kind = excluded.source_kind, source_claim = excluded.source_claim, updated_at = excluded.updated_at
returning {_PROFILE}
"""


async def put_profile(c: Connection, principal: Principal, given: ProfileInput) -> Profile:
    origin = Origin.of(principal, given.source_kind)
    row = await c.fetchrow(
        PUT,
        principal.tenant,
        given.scope,
        given.text,
        given.background,
        principal.key,
        origin.kind,
        origin.claim,
    )
    assert row is not None
    return Profile(**row)


DELETE = f"delete from context.profiles where tenant = $1 and scope = $2 returning {_PROFILE}"


async def delete_profile(c: Connection, tenant: str, scope: str) -> Profile | None:
    row = await c.fetchrow(DELETE, tenant, scope)
    return None if row is None else Profile(**row)


def _profiles(rows: Sequence[asyncpg.Record]) -> list[Profile]:
    return [Profile(**row) for row in rows]
