"""The SQL that takes another name away from an entity. Callers hold the lock of the scope."""

from __future__ import annotations

from collections.abc import Sequence

import asyncpg

from shared.database.postgres import Connection

FIND_ALIAS = """
select entity_key, source_kind, agent_name, written_by from memory.entity_aliases
where tenant = $1 and scope = $2 and alias_key = $3
"""


async def find(connection: Connection, tenant: str, scope: str, alias: str) -> asyncpg.Record | None:
    return await connection.fetchrow(FIND_ALIAS, tenant, scope, alias)


WRITTEN_NAMES = """
select subject from memory.facts where tenant = $1 and scope = $2 and subject_key = $3
union
select object from memory.facts where tenant = $1 and scope = $2 and object_key = $3
"""


async def written(connection: Connection, tenant: str, scope: str, entity: str) -> list[str]:
    """The names under which the entity's facts were stated, as they were written."""
    return [row["subject"] for row in await connection.fetch(WRITTEN_NAMES, tenant, scope, entity)]


# $4 names of the entity as they were written.
_UNDER = "(subject_key = $3 and subject = any($4) or object_key = $3 and object = any($4))"
STATED_UNDER = f"""
select distinct source_kind, agent_name, written_by from memory.facts
where tenant = $1 and scope = $2 and {_UNDER}
"""


async def stated(
    connection: Connection, tenant: str, scope: str, entity: str, names: Sequence[str]
) -> list[asyncpg.Record]:
    """Who states something under the names."""
    rows: list[asyncpg.Record] = await connection.fetch(STATED_UNDER, tenant, scope, entity, names)
    return rows


PART = f"""
with parted as (
    update memory.facts set
        subject_key = case when subject_key = $3 and subject = any($4) then $5 else subject_key end,
        object_key = case when object_key = $3 and object = any($4) then $5 else object_key end
    where tenant = $1 and scope = $2 and {_UNDER}
    returning superseded_at
), removed as (
    delete from memory.entity_aliases where tenant = $1 and scope = $2 and alias_key = $5
)
select count(*) from parted where superseded_at is null
"""


async def part(
    connection: Connection, tenant: str, scope: str, alias: str, entity: str, names: Sequence[str]
) -> int:
    """Removes the alias, and moves what was stated under its names to it. Returns how many current facts moved."""
    moved: int = await connection.fetchval(PART, tenant, scope, entity, names, alias)
    return moved
