"""The SQL of search over missions' entries. Functions take the connection first and never commit."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial

import asyncpg
from pgvector import HalfVector

from shared.database.postgres import Connection
from shared.search.counts import NONE_COMMON, Common
from shared.search.sql import scope_key, search_sql

_search = partial(
    search_sql,
    items="cache.psychic_cache",
    chunks="cache.psychic_chunks",
    vectors="cache.psychic_vec",
    columns="i.context_type as kind, i.agent_name, i.content, i.metadata, i.tags, i.token_count, i.expires_at,"
    " i.mission_id, i.source_turn, i.dispatch_id",
    narrow="{0}.scope = any($10) and {0}.expires_at > now() and ($11::bigint[] is null or {0}.item_id = any($11))"
    " and ($12::bigint is null or {0}.item_id <= $12)",
    count="c.tenant = $1 and c.scope = any($10)",
)
SEARCH = _search()
# A statement of its own, so that nobody else's plan has to allow for users.
SEARCH_OF_USERS = _search(users="$13")


async def search(
    connection: Connection,
    tenant: str,
    query: str,
    vector: HalfVector | None,
    model: str,
    depth: int,
    scopes: Sequence[str],
    only: Sequence[int] | None = None,
    documents: int | None = None,
    common: Common = NONE_COMMON,
    until: int | None = None,
    users: Sequence[str] | None = None,
) -> list[asyncpg.Record]:
    """With `users`, of what is about these or nobody."""
    rows: list[asyncpg.Record] = await connection.fetch(
        SEARCH if users is None else SEARCH_OF_USERS,
        tenant,
        query,
        vector,
        model,
        depth,
        [scope_key(tenant, scope) for scope in scopes],
        documents,
        *common,
        list(scopes),
        None if only is None else list(only),
        until,
        *(() if users is None else (users,)),
    )
    return rows


# Ids grow with time: a bound that leaves out nothing.
LAST_BY = "select max(id) from cache.psychic_cache where tenant = $1 and created_at <= $2"


async def last_by(connection: Connection, tenant: str, time: datetime) -> int:
    return await connection.fetchval(LAST_BY, tenant, time) or 0


IDS_WITH = """
select id from cache.psychic_cache
where tenant = $1 and scope = any($2) and expires_at > now()
  and ($3::text[] is null or context_type = any($3)) and ($4::text[] is null or tags && $4)
  and ($5::text is null or agent_name = $5) and ($6::bigint is null or dispatch_id = $6)
  and ($7::text[] is null or user_id is null or user_id = any($7))
"""


async def ids_with(
    connection: Connection,
    tenant: str,
    scopes: Sequence[str],
    context_types: Sequence[str] | None,
    tags: Sequence[str] | None,
    agent_name: str | None,
    dispatch_id: int | None,
    users: Sequence[str] | None,
) -> list[int]:
    rows = await connection.fetch(
        IDS_WITH, tenant, list(scopes), context_types, tags, agent_name, dispatch_id, users
    )
    return [row["id"] for row in rows]


MISSION_IDS = """
select mission_id from cache.missions
where tenant = $1 and entries > 0 and ($2::text[] is null or mission_id = any($2))
order by last_write_at desc limit 200
"""


async def mission_ids(connection: Connection, tenant: str, granted: Sequence[str] | None) -> list[str]:
    return [row["mission_id"] for row in await connection.fetch(MISSION_IDS, tenant, granted)]


SIZE = """
select count(*) from cache.psychic_cache where tenant = $1 and scope = any($2) and expires_at > now()
"""


async def size(connection: Connection, tenant: str, scopes: Sequence[str]) -> int:
    return int(await connection.fetchval(SIZE, tenant, list(scopes)))
