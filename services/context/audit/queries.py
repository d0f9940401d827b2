"""The SQL of the audit."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple

import asyncpg

from shared.database.postgres import Connection


class AuditFilter(NamedTuple):
    """Which rows are listed; None narrows nothing. The fields stand in the order of LIST's parameters."""

    action: str | None = None
    actor: str | None = None
    target: str | None = None
    since: datetime | None = None
    until: datetime | None = None


LIST = """
select id, at, actor, agent_name, request_id, action, target, before, after from timeline.audit
where tenant = $1 and ($2::text is null or action = $2) and ($3::text is null or actor = $3)
  and ($4::text is null or target = $4) and ($5::timestamptz is null or at >= $5)
  and ($6::timestamptz is null or at < $6) and id < coalesce($7::bigint, 9223372036854775807)
order by id desc limit $8
"""


async def list_audit(
    connection: Connection, tenant: str, wanted: AuditFilter, *, before: int | None, limit: int
) -> list[asyncpg.Record]:
    """Newest first, from the one older than `before` on."""
    rows: list[asyncpg.Record] = await connection.fetch(LIST, tenant, *wanted, before, limit)
    return rows
