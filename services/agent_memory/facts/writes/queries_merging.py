"""The SQL that gives entities other names. Callers hold the lock of the scope."""

from __future__ import annotations

from collections.abc import Sequence

import asyncpg
import msgspec

from services.agent_memory.facts.writes.queries import CURRENT
from shared.database.postgres import Connection

NAMED = """
select distinct source_kind, agent_name, written_by from memory.facts
where tenant = $1 and scope = $2 and (subject_key = $3 or object_key = $3)
union
select source_kind, agent_name, written_by from memory.entity_aliases
where tenant = $1 and scope = $2 and entity_key = $3
"""


async def named(connection: Connection, tenant: str, scope: str, key: str) -> list[asyncpg.Record]:
    """Who states something under a name."""
    rows: list[asyncpg.Record] = await connection.fetch(NAMED, tenant, scope, key)
    return rows


OF_BOTH = f"""
select {CURRENT} from memory.facts
where tenant = $1 and scope = $2 and superseded_at is null
  and (subject_key = any($3) or object_key = any($3))
"""


async def current(
    connection: Connection, tenant: str, scope: str, keys: Sequence[str]
) -> list[asyncpg.Record]:
    """The current facts of the names."""
    rows: list[asyncpg.Record] = await connection.fetch(OF_BOTH, tenant, scope, keys)
    return rows


RENAME = """
with renamed as (
    update memory.facts set
        subject_key = case subject_key when $3 then $4 else subject_key end,
        object_key = case object_key when $3 then $4 else object_key end
    where tenant = $1 and scope = $2 and (subject_key = $3 or object_key = $3)
    returning superseded_at
)
select count(*) from renamed where superseded_at is null
"""
REDIRECT = """
update memory.entity_aliases set entity_key = $4, entity = $5
where tenant = $1 and scope = $2 and entity_key = $3
"""


class NewAlias(msgspec.Struct, frozen=True, kw_only=True):
    """A row of `memory.entity_aliases`."""

    scope: str
    alias: str
    alias_key: str
    entity: str
    entity_key: str
    agent_name: str | None
    written_by: str
    source_kind: str
    source_claim: str | None


_STATED = ", ".join(NewAlias.__struct_fields__)
ADD_ALIAS = f"""
insert into memory.entity_aliases (tenant, {_STATED})
select $1, {_STATED} from jsonb_populate_record(null::memory.entity_aliases, $2)
"""


async def rename(connection: Connection, tenant: str, new: NewAlias) -> int:
    """Moves the facts and the other names of the alias to its entity. Returns how many current facts moved."""
    names = (tenant, new.scope, new.alias_key, new.entity_key)
    moved: int = await connection.fetchval(RENAME, *names)
    await connection.execute(REDIRECT, *names, new.entity)
    await connection.execute(ADD_ALIAS, tenant, new)
    return moved
