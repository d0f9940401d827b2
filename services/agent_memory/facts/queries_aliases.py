"""The SQL of other names of entities."""

from __future__ import annotations

from collections.abc import Sequence

import asyncpg

from services.agent_memory.facts.queries import VISIBLE, Bounds
from services.agent_memory.facts.schemas_reading import AliasCursor
from shared.database.postgres import Connection

ENTITIES = """
select a.scope, a.alias_key, a.entity_key from memory.entity_aliases a
join unnest($2::text[], $3::text[]) as n(scope, key) on a.scope = n.scope and a.alias_key = n.key
where a.tenant = $1
"""


async def entities(
    connection: Connection, tenant: str, names: Sequence[tuple[str, str]]
) -> dict[tuple[str, str], str]:
    """The entities' keys of names that are aliases in their scope."""
    scopes, keys = zip(*dict.fromkeys(names), strict=True)
    rows = await connection.fetch(ENTITIES, tenant, scopes, keys)
    return {(row["scope"], row["alias_key"]): row["entity_key"] for row in rows}


LIST = f"""
select f.scope, f.alias, f.entity, f.alias_key, f.agent_name, f.written_by, f.source_kind, f.source_claim,
       f.created_at
from (select *, null::text as user_id, null::text as source from memory.entity_aliases where tenant = $1) f
where {VISIBLE.format(users="$2", missions="$3", agent="$4", folders="$5")}
  and ($6::text is null or f.alias_key = $6 or f.entity_key = $6)
  and (f.alias_key, f.scope) > (coalesce($7, ''), coalesce($8, ''))
order by f.alias_key, f.scope limit $9
"""


async def list_aliases(
    connection: Connection,
    tenant: str,
    seen: Bounds,
    *,
    name_key: str | None,
    after: AliasCursor | None,
    limit: int,
) -> list[asyncpg.Record]:
    since = (None, None) if after is None else (after.alias_key, after.scope)
    rows: list[asyncpg.Record] = await connection.fetch(LIST, tenant, *seen, name_key, *since, limit)
    return rows
