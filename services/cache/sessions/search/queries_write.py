"""The SQL that takes a session's objects from the queue of the index."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from shared.database.postgres import Connection

NUMBERS = "select o.number from sessions.semantic_objects o where o.tenant = $1 and o.session_id = any($2)"
UNQUEUE = """
delete from cache.index_queue
where tenant = $1 and store in ('session_objects', 'object_summaries') and item_id = any($2::bigint[])
"""


async def numbers(connection: Connection, tenant: str, sessions: Sequence[UUID]) -> list[int]:
    """Those of the sessions' objects."""
    return [row["number"] for row in await connection.fetch(NUMBERS, tenant, list(sessions))]


async def unqueue(connection: Connection, tenant: str, objects: Sequence[int]) -> None:
    """After the objects are deleted: the indexer locks in that order."""
    await connection.execute(UNQUEUE, tenant, list(objects))
