"""The SQL of relationships."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import asyncpg

from services.cache.sessions.relationships.schemas import (
    RelateInput,
    Relation,
    Relationship,
    RelationshipCursor,
)
from shared.database.postgres import Connection

_COLUMNS = ", ".join(f"r.{name}" for name in Relationship.__struct_fields__)
# $3 objects.
OF_SESSION = """
select o.id from sessions.semantic_objects o where o.tenant = $1 and o.session_id = $2 and o.id = any($3)
"""


async def of_session(
    connection: Connection, tenant: str, session_id: UUID, objects: Sequence[UUID]
) -> set[UUID]:
    """Those of the objects that are the session's."""
    rows = await connection.fetch(OF_SESSION, tenant, session_id, list(objects))
    return {row["id"] for row in rows}


# A row that was inserted now has no earlier version: its xmax is 0.
RELATE = f"""
insert into sessions.object_relationships as r (tenant, session_id, source_id, target_id, relationship, metadata)
values ($1, $2, $3, $4, $5, $6)
on conflict (tenant, source_id, target_id, relationship) do update set metadata = excluded.metadata
returning {_COLUMNS}, r.xmax = 0 as created
"""


async def relate(
    connection: Connection, tenant: str, session_id: UUID, wanted: RelateInput
) -> asyncpg.Record:
    edge = (wanted.source_id, wanted.target_id, wanted.relationship, wanted.metadata)
    row = await connection.fetchrow(RELATE, tenant, session_id, *edge)
    assert row is not None
    return row


# $3 the kind, $4 an object at either end, $5 and $6 where the page before ended.
LIST = f"""
select {_COLUMNS} from sessions.object_relationships r
where r.tenant = $1 and r.session_id = $2 and ($3::text is null or r.relationship = $3)
  and ($4::uuid is null or r.source_id = $4 or r.target_id = $4)
  and ($5::timestamptz is null or (r.created_at, r.id) > ($5, $6::uuid))
order by r.created_at, r.id limit $7
"""


async def list_relationships(
    connection: Connection,
    tenant: str,
    session_id: UUID,
    *,
    relationship: Relation | None,
    object_id: UUID | None,
    after: RelationshipCursor | None,
    limit: int,
) -> list[asyncpg.Record]:
    """The earliest first."""
    last = (None, None) if after is None else (after.created_at, after.id)
    rows: list[asyncpg.Record] = await connection.fetch(
        LIST, tenant, session_id, relationship, object_id, *last, limit
    )
    return rows


REMOVE = """
delete from sessions.object_relationships r where r.tenant = $1 and r.session_id = $2 and r.id = $3 returning r.id
"""


async def remove(connection: Connection, tenant: str, session_id: UUID, relationship_id: UUID) -> bool:
    return await connection.fetchval(REMOVE, tenant, session_id, relationship_id) is not None
