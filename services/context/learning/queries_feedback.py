"""The SQL that hands out unprocessed feedback."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import asyncpg

from shared.database.postgres import Connection

WAITING_CALLERS = """
select tenant, caller from context.context_assembly_log
where processed_at is null and feedback_kind is not null and ($1::text is null or tenant = $1)
group by tenant, caller having count(*) >= $2 order by tenant, caller
"""


async def waiting_callers(connection: Connection, tenant: str | None, least: int) -> list[tuple[str, str]]:
    return [(row["tenant"], row["caller"]) for row in await connection.fetch(WAITING_CALLERS, tenant, least)]


TAKE_BATCH = """
select id, created_at, candidates, used_source_ids, weak_source_ids, feedback_kind, tokens_used, token_budget,
       budget_asked, total_tokens
from context.context_assembly_log
where tenant = $1 and caller = $2 and processed_at is null and feedback_kind is not null
order by id limit $3 for update skip locked
"""


async def take_batch(connection: Connection, tenant: str, caller: str, limit: int) -> list[asyncpg.Record]:
    rows: list[asyncpg.Record] = await connection.fetch(TAKE_BATCH, tenant, caller, limit)
    return rows


PROCESSED = """
update context.context_assembly_log l set processed_at = statement_timestamp()
from unnest($2::bigint[], $3::timestamptz[]) p(id, created_at)
where l.tenant = $1 and l.id = p.id and l.created_at = p.created_at
"""


async def mark_processed(
    connection: Connection, tenant: str, ids: Sequence[int], created: Sequence[datetime]
) -> None:
    await connection.execute(PROCESSED, tenant, list(ids), list(created))
