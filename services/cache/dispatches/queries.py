"""The SQL of dispatches. Every statement that changes one also adds its event."""

from __future__ import annotations

from datetime import datetime

import asyncpg

from services.cache.dispatches.schemas import CompleteInput, ProgressInput, ReportInput, Status
from shared.auth import Principal
from shared.database.postgres import Connection

_COLUMNS = """id, mission_id, agent_name, task, status, outputs, created_at, last_heartbeat,
       parent_id as parent_dispatch_id, session_id, progress, percent, outcome, summary, closed_at"""

_EVENT = """, event as (
    insert into timeline.events (tenant, scope, kind, mission_id, agent_name, session_id, dispatch_id, payload)
    select tenant, scope, '{kind}', mission_id, agent_name, session_id, id, {payload} from changed
)"""
_REPORTED = _EVENT.format(kind="dispatch_report", payload="jsonb_build_object('parent_id', parent_id)")
_PROGRESSED = _EVENT.format(kind="dispatch_progress", payload="jsonb_build_object('percent', percent)")
_COMPLETED = _EVENT.format(
    kind="dispatch_complete", payload="jsonb_build_object('outcome', outcome, 'output_missing', outputs = 0)"
)
_STALE = _EVENT.format(kind="dispatch_stale", payload="jsonb_build_object('last_heartbeat', last_heartbeat)")

REPORT = f"""
with changed as (
    insert into cache.agent_dispatch (tenant, mission_id, agent_name, task, parent_id, session_id, written_by)
    values ($1, $2, $3, $4, $5, $6, $7)
    returning *
){_REPORTED}
select {_COLUMNS} from changed
"""


async def report(connection: Connection, principal: Principal, report: ReportInput) -> asyncpg.Record:
    row = await connection.fetchrow(
        REPORT,
        principal.tenant,
        report.mission_id,
        report.agent_name,
        report.task,
        report.parent_dispatch_id,
        report.session_id,
        principal.key,
    )
    assert row is not None
    return row


PROGRESS = f"""
with changed as (
    update cache.agent_dispatch
    set status = 'in_progress', progress = coalesce($3, progress), percent = coalesce($4, percent),
        last_heartbeat = statement_timestamp()
    where tenant = $1 and id = $2 and closed_at is null
    returning *
){_PROGRESSED}
select {_COLUMNS} from changed
"""


async def progress(
    connection: Connection, tenant: str, dispatch_id: int, progress: ProgressInput
) -> asyncpg.Record | None:
    """None when the dispatch is closed or does not exist."""
    return await connection.fetchrow(PROGRESS, tenant, dispatch_id, progress.note, progress.percent)


# A stale dispatch may still complete: its agent was alive after all.
COMPLETE = f"""
with changed as (
    update cache.agent_dispatch
    set status = 'completed', outcome = $3, summary = $4, percent = case when $3 = 'success' then 100 else percent end,
        last_heartbeat = statement_timestamp(), closed_at = statement_timestamp()
    where tenant = $1 and id = $2 and status <> 'completed'
    returning *
){_COMPLETED}
select {_COLUMNS} from changed
"""


async def complete(
    connection: Connection, tenant: str, dispatch_id: int, completion: CompleteInput
) -> asyncpg.Record | None:
    """None when the dispatch is already completed or does not exist."""
    return await connection.fetchrow(COMPLETE, tenant, dispatch_id, completion.outcome, completion.summary)


DISPATCH = f"""
select {_COLUMNS} from cache.agent_dispatch
where tenant = $1 and id = $2 and ($3::text[] is null or mission_id = any($3))
"""


async def dispatch(connection: Connection, principal: Principal, dispatch_id: int) -> asyncpg.Record | None:
    return await connection.fetchrow(DISPATCH, principal.tenant, dispatch_id, principal.seen_missions())


DISPATCHES = f"""
select {_COLUMNS} from cache.agent_dispatch
where tenant = $1 and ($2::text[] is null or mission_id = any($2)) and ($3::text is null or mission_id = $3)
  and ($4::text is null or agent_name = $4) and ($5::text is null or status = $5)
  and ($6::timestamptz is null or created_at >= $6) and id < coalesce($7::bigint, 9223372036854775807)
order by id desc limit $8
"""


async def dispatches(
    connection: Connection,
    principal: Principal,
    *,
    mission_id: str | None,
    agent_name: str | None,
    status: Status | None,
    since: datetime | None,
    before: int | None,
    limit: int,
) -> list[asyncpg.Record]:
    """Newest first, from the one older than `before` on."""
    rows: list[asyncpg.Record] = await connection.fetch(
        DISPATCHES,
        principal.tenant,
        principal.seen_missions(),
        mission_id,
        agent_name,
        status,
        since,
        before,
        limit,
    )
    return rows


SILENT_TENANTS = """
select distinct tenant from cache.agent_dispatch
where closed_at is null and last_heartbeat < statement_timestamp() - $1 * interval '1 minute'
"""


async def silent_tenants(connection: Connection, minutes: float) -> list[str]:
    """The tenants with dispatches that gave no sign of life for `minutes`."""
    return [row["tenant"] for row in await connection.fetch(SILENT_TENANTS, minutes)]


# Several replicas may look at once; the one that locks a row closes it.
LOCK_SILENT = """
select id from cache.agent_dispatch
where tenant = $1 and closed_at is null and last_heartbeat < statement_timestamp() - $2 * interval '1 minute'
order by id limit 500 for no key update skip locked
"""
CLOSE_STALE = f"""
with changed as (
    update cache.agent_dispatch set status = 'stale', closed_at = statement_timestamp()
    where tenant = $1 and id = any($2)
    returning *
){_STALE}
select id from changed
"""


async def close_stale(connection: Connection, tenant: str, minutes: float) -> list[int]:
    """Closes up to 500 dispatches without a sign of life for `minutes`, and answers their ids."""
    silent = [row["id"] for row in await connection.fetch(LOCK_SILENT, tenant, minutes)]
    rows = await connection.fetch(CLOSE_STALE, tenant, silent) if silent else []
    return [row["id"] for row in rows]
