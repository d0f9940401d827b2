"""Opens an owner's hot scopes, or none where Citus distributes its tables."""

from __future__ import annotations

import structlog

from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.search.hot.scopes import HotScopes

log = structlog.get_logger()

_PATIENCE = 30.0
HAS_CITUS = "select to_regclass('pg_dist_partition') is not null"
# Only Citus has this catalog.
IS_DISTRIBUTED = "select exists (select from pg_dist_partition where logicalrelid = to_regclass($1))"


async def open_scopes(database: Database, megabytes: int, chunks: str) -> HotScopes:
    """Each node of Citus counts its own transactions, so no number tells what a copy of `chunks`, a table, lacks."""
    if megabytes and await database.call(lambda c: is_distributed(c, chunks), Deadline(_PATIENCE)):
        log.warning("hot scopes: off, because the table is distributed", table=chunks)
        megabytes = 0
    return HotScopes(megabytes)


async def is_distributed(connection: Connection, table: str) -> bool:
    return bool(await connection.fetchval(HAS_CITUS) and await connection.fetchval(IS_DISTRIBUTED, table))
