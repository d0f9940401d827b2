"""The SQL of search over memories. Functions take the connection first and never commit."""

from __future__ import annotations

from datetime import datetime
from functools import partial
from typing import Any

import asyncpg
import msgspec
from pgvector import HalfVector

from shared.database.postgres import Connection
from shared.search.counts import NONE_COMMON, Common
from shared.search.sql import scope_key, search_sql


class Look(msgspec.Struct, frozen=True):
    """One search: `only` narrows it to these ids, `until` to those up to it, `users` to what is about these or nobody.
    `documents` is how many chunks there are and `common` the words that many of them hold, where known.
    """

    tenant: str
    query: str
    vector: HalfVector | None
    model: str
    depth: int
    only: list[int] | None = None
    documents: int | None = None
    common: Common = NONE_COMMON
    until: int | None = None
    users: list[str] | None = None


_COLUMNS = (
    "i.memory_type as kind, i.agent_name, i.content, i.updated_at, i.outcome, i.access_count, i.confirmed_count,"
    " i.task_description, i.skills_used, i.mission_namespace, i.private, i.written_by, i.source_kind, i.dispatch_id,"
    " i.recalled_from"
)
_search_sql = partial(
    search_sql,
    items="memory.agent_memory",
    chunks="memory.agent_memory_chunks",
    vectors="memory.agent_memory_vec",
)
_NARROWED = (
    "($11::bigint[] is null or {0}.item_id = any($11)) and ($12::bigint is null or {0}.item_id <= $12)"
)
_PEERS = "{0}.scope <> $10 and not {0}.private and ($11::bigint is null or {0}.item_id <= $11)"
_own = partial(
    _search_sql,
    columns=f"{_COLUMNS}, (select max(a.access_count) from memory.agent_memory a"
    " where a.tenant = $1 and a.agent_name = substr($10, 7)) as most_accessed",
    narrow=f"{{0}}.scope = $10 and {_NARROWED}",
    count="c.tenant = $1 and c.scope = $10",
)
_peer = partial(
    _search_sql,
    columns=_COLUMNS,
    narrow=f"{{0}}.scope = $10 and not {{0}}.private and {_NARROWED}",
    count="c.tenant = $1 and c.scope = $10",
)
_peers = partial(_search_sql, columns=_COLUMNS, narrow=_PEERS, count="c.tenant = $1")
SEARCH_OWN = _own()
SEARCH_PEER = _peer()
SEARCH_PEERS = _peers()
SEARCH_PEERS_APPROXIMATE = _peers(approximate=True)
# A statement of its own, so that nobody else's plan has to allow for users.
OF_USERS = {
    SEARCH_OWN: _own(users="$13"),
    SEARCH_PEER: _peer(users="$13"),
    SEARCH_PEERS: _peers(users="$12"),
    SEARCH_PEERS_APPROXIMATE: _peers(approximate=True, users="$12"),
}
# What the words of memories that peers may see are indexed under, beside their agent's scope.
EVERY_AGENT = "*"


async def search_own(connection: Connection, look: Look, agent: str) -> list[asyncpg.Record]:
    return await _search(
        connection, SEARCH_OWN, look, f"agent:{agent}", f"agent:{agent}", look.only, look.until
    )


async def search_peer(connection: Connection, look: Look, agent: str) -> list[asyncpg.Record]:
    """As `search_own`, without what the peer keeps private."""
    return await _search(
        connection, SEARCH_PEER, look, f"agent:{agent}", f"agent:{agent}", look.only, look.until
    )


async def search_peers(
    connection: Connection, look: Look, agent: str, *, approximate: bool = False
) -> list[asyncpg.Record]:
    """What all agents but this one share. `approximate` needs hnsw.iterative_scan in its transaction."""
    statement = SEARCH_PEERS_APPROXIMATE if approximate else SEARCH_PEERS
    return await _search(connection, statement, look, EVERY_AGENT, f"agent:{agent}", look.until)


async def _search(
    connection: Connection, statement: str, look: Look, key: str, *more: Any
) -> list[asyncpg.Record]:
    if look.users is not None:
        statement, more = OF_USERS[statement], (*more, look.users)
    rows: list[asyncpg.Record] = await connection.fetch(
        statement,
        look.tenant,
        look.query,
        look.vector,
        look.model,
        look.depth,
        [scope_key(look.tenant, key)],
        look.documents,
        *look.common,
        *more,
    )
    return rows


IDS_OF_TYPE = "select id from memory.agent_memory where tenant = $1 and agent_name = $2 and memory_type = $3"


async def ids_of_type(connection: Connection, tenant: str, agent_name: str, memory_type: str) -> list[int]:
    return [row["id"] for row in await connection.fetch(IDS_OF_TYPE, tenant, agent_name, memory_type)]


# Ids grow with time, but for what was imported: a bound that leaves out nothing.
LAST_BY = "select max(id) from memory.agent_memory where tenant = $1 and created_at <= $2"


async def last_by(connection: Connection, tenant: str, time: datetime) -> int:
    return await connection.fetchval(LAST_BY, tenant, time) or 0


COUNT_PEERS = "select count(*) from memory.agent_memory_chunks where tenant = $1"


async def count_peers(connection: Connection, tenant: str) -> int:
    return int(await connection.fetchval(COUNT_PEERS, tenant))
