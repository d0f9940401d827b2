"""The SQL of checkpoints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import asyncpg

from services.cache.checkpoints.schemas import CheckpointCursor
from shared.database.postgres import Connection


class Wanted(NamedTuple):
    """Which checkpoints of some threads, from $3 of LIST on. None means any."""

    namespace: str | None
    checkpoint_id: str | None
    before: str | None
    metadata: dict[str, Any]


# A thread that has expired is not there, whether the sweep has come or not.
DROP_EXPIRED = """
delete from cache.checkpoint_threads where tenant = $1 and name_hash = $2 and expires_at <= statement_timestamp()
"""
# $2 the columns, $3 hours, $4 the hash of its names. It holds the thread until the transaction ends: writers take
# turns.
HOLD = """
insert into cache.checkpoint_threads as t
    (tenant, thread_id, name_hash, scope, agent_name, mission_id, user_id, written_by, expires_at)
select $1, r.thread_id, $4, r.scope, r.agent_name, r.mission_id, r.user_id, r.written_by,
       statement_timestamp() + make_interval(secs => $3 * 3600)
from jsonb_populate_record(null::cache.checkpoint_threads, $2) r
on conflict (tenant, name_hash) do update set expires_at = excluded.expires_at
returning t.id, t.written_by, t.expires_at
"""


async def hold(
    connection: Connection, tenant: str, columns: dict[str, Any], name_hash: bytes, hours: float
) -> asyncpg.Record:
    """The thread, new or not, which now expires in so many hours."""
    await connection.execute(DROP_EXPIRED, tenant, name_hash)
    row = await connection.fetchrow(HOLD, tenant, columns, hours, name_hash)
    assert row is not None
    return row


# $2 the scope and $3 to $5 the parties. A key of some users changes only what it began of threads about nobody ($6).
THREADS = """
select id, thread_id from cache.checkpoint_threads
where tenant = $1 and scope = $2 and agent_name is not distinct from $3 and mission_id is not distinct from $4
  and user_id is not distinct from $5 and ($6::text is null or written_by = $6)
  and expires_at > statement_timestamp()
"""
NAMED_THREADS = """
select id, thread_id from cache.checkpoint_threads
where tenant = $1 and name_hash = any($2::bytea[]) and ($3::text is null or written_by = $3)
  and expires_at > statement_timestamp()
"""


async def named_threads(
    connection: Connection, tenant: str, hashes: Sequence[bytes], written_by: str | None = None
) -> dict[int, str]:
    """Their names by their numbers."""
    rows = await connection.fetch(NAMED_THREADS, tenant, list(hashes), written_by)
    return {row["id"]: row["thread_id"] for row in rows}


async def threads(
    connection: Connection, tenant: str, columns: dict[str, Any], written_by: str | None = None
) -> dict[int, str]:
    """All of the parties, as `named_threads`."""
    parties = (columns[name] for name in ("scope", "agent_name", "mission_id", "user_id"))
    rows = await connection.fetch(THREADS, tenant, *parties, written_by)
    return {row["id"]: row["thread_id"] for row in rows}


# $2 the thread, $3 the columns, $4 the state.
PUT = """
insert into cache.checkpoints (tenant, thread, checkpoint_id, namespace, parent_id, run_id, metadata, state)
select $1, $2, r.checkpoint_id, r.namespace, r.parent_id, r.run_id, r.metadata, $4
from jsonb_populate_record(null::cache.checkpoints, $3) r
on conflict (tenant, thread, checkpoint_id, namespace) do update
set parent_id = excluded.parent_id, run_id = excluded.run_id, metadata = excluded.metadata, state = excluded.state
"""
# Older than the newest $4 of the namespace. The thread's own namespace decides for all: a graph within it starts anew
# with each step.
OLDEST_KEPT = """
select checkpoint_id from cache.checkpoints where tenant = $1 and thread = $2 and namespace = $3
order by checkpoint_id desc offset $4 - 1 limit 1
"""
DROP_OLDER = """
delete from cache.checkpoints
where tenant = $1 and thread = $2 and checkpoint_id < $4 and (namespace = $3 or $3 = '')
"""
DROP_OLDER_WRITES = """
delete from cache.checkpoint_writes
where tenant = $1 and thread = $2 and checkpoint_id < $4 and (namespace = $3 or $3 = '')
"""


async def put(connection: Connection, tenant: str, thread: int, columns: dict[str, Any], state: str) -> None:
    await connection.execute(PUT, tenant, thread, columns, state)


async def keep_last(connection: Connection, tenant: str, thread: int, namespace: str, count: int) -> None:
    oldest = await connection.fetchval(OLDEST_KEPT, tenant, thread, namespace, count)
    if oldest is not None:
        for statement in (DROP_OLDER, DROP_OLDER_WRITES):
            await connection.execute(statement, tenant, thread, namespace, oldest)


# $2 the thread, $3 what the writes have in common, $4 the writes, $5 whether the last one to a place stays.
PUT_WRITES = """
with put as (
    insert into cache.checkpoint_writes as w
        (tenant, thread, checkpoint_id, namespace, task_id, task_path, place, channel, value)
    select $1, $2, r.checkpoint_id, r.namespace, r.task_id, r.task_path, g.place, g.channel, g.value
    from jsonb_populate_record(null::cache.checkpoint_writes, $3) r
    cross join (
        select distinct on (given.place) given.place, given.channel, given.value
        from jsonb_to_recordset($4) given(nr int, place int, channel text, value text)
        order by given.place, case when $5 then -given.nr else given.nr end
    ) g
    on conflict (tenant, thread, checkpoint_id, namespace, task_id, place) do update
    set channel = excluded.channel, value = excluded.value, task_path = excluded.task_path where $5
    returning 1
)
select count(*) from put
"""


async def put_writes(
    connection: Connection,
    tenant: str,
    thread: int,
    common: dict[str, Any],
    writes: list[dict[str, Any]],
    *,
    replace: bool,
) -> int:
    """Returns how many are new or replaced."""
    count: int = await connection.fetchval(PUT_WRITES, tenant, thread, common, writes, replace)
    return count


# $2 the threads. As many as $10, or fewer where their states take more than $11 bytes: one always comes.
LIST = """
with found as (
    select c.thread, c.namespace, c.checkpoint_id, c.parent_id, c.metadata, c.state, c.created_at
    from cache.checkpoints c
    where c.tenant = $1 and c.thread = any($2) and ($3::text is null or c.namespace = $3)
      and ($4::text is null or c.checkpoint_id = $4) and ($5::text is null or c.checkpoint_id < $5 collate "C")
      and c.metadata @> $6
      and ($7::text is null
           or (c.checkpoint_id, c.namespace, c.thread) < ($7 collate "C", $8::text collate "C", $9::bigint))
    order by c.checkpoint_id desc, c.namespace desc, c.thread desc limit $10
), measured as (
    select *, sum(octet_length(state)) over newest - octet_length(state) as bytes_before,
           lead(thread) over newest is not null as followed
    from found window newest as (order by checkpoint_id desc, namespace desc, thread desc)
)
select * from measured where bytes_before < $11 order by checkpoint_id desc, namespace desc, thread desc
"""


async def list_checkpoints(
    connection: Connection,
    tenant: str,
    found: Sequence[int],
    wanted: Wanted,
    *,
    after: CheckpointCursor | None,
    limit: int,
    most_bytes: int,
) -> list[asyncpg.Record]:
    """Newest first."""
    last = (None, None, None) if after is None else (after.checkpoint_id, after.namespace, after.thread)
    rows: list[asyncpg.Record] = await connection.fetch(
        LIST, tenant, list(found), *wanted, *last, limit, most_bytes
    )
    return rows


# $2 to $4 the threads, ids and namespaces of checkpoints.
WRITES = """
select w.thread, w.checkpoint_id, w.namespace, w.task_id, w.place, w.channel, w.value
from cache.checkpoint_writes w
join unnest($2::bigint[], $3::text[], $4::text[]) as c(thread, checkpoint_id, namespace)
  on w.thread = c.thread and w.checkpoint_id = c.checkpoint_id and w.namespace = c.namespace
where w.tenant = $1 order by w.task_path, w.task_id, w.place
"""


async def writes_of(
    connection: Connection, tenant: str, rows: Sequence[asyncpg.Record]
) -> list[asyncpg.Record]:
    """In the order in which they count."""
    columns = [[row[name] for row in rows] for name in ("thread", "checkpoint_id", "namespace")]
    found: list[asyncpg.Record] = await connection.fetch(WRITES, tenant, *columns)
    return found


# From thread $2 to thread $3.
COPY = """
with copied as (
    insert into cache.checkpoints (tenant, thread, checkpoint_id, namespace, parent_id, run_id, metadata, state)
    select c.tenant, $3, c.checkpoint_id, c.namespace, c.parent_id, c.run_id, c.metadata, c.state
    from cache.checkpoints c where c.tenant = $1 and c.thread = $2
    on conflict (tenant, thread, checkpoint_id, namespace) do nothing
    returning 1
)
select count(*) from copied
"""
COPY_WRITES = """
insert into cache.checkpoint_writes
    (tenant, thread, checkpoint_id, namespace, task_id, task_path, place, channel, value)
select w.tenant, $3, w.checkpoint_id, w.namespace, w.task_id, w.task_path, w.place, w.channel, w.value
from cache.checkpoint_writes w where w.tenant = $1 and w.thread = $2
on conflict (tenant, thread, checkpoint_id, namespace, task_id, place) do nothing
"""


async def copy(connection: Connection, tenant: str, source: int, target: int) -> int:
    """Returns how many checkpoints are new there."""
    await connection.execute(COPY_WRITES, tenant, source, target)
    count: int = await connection.fetchval(COPY, tenant, source, target)
    return count


_DROPPED = """
gone as (
    delete from cache.checkpoints c using surplus s
    where c.tenant = $1 and c.thread = s.thread and c.checkpoint_id = s.checkpoint_id and c.namespace = s.namespace
    returning 1
), unwritten as (
    delete from cache.checkpoint_writes w using surplus s
    where w.tenant = $1 and w.thread = s.thread and w.checkpoint_id = s.checkpoint_id and w.namespace = s.namespace
)
select count(*) from gone
"""
# All but the newest $3 of each namespace of the threads $2.
PRUNE = f"""
with ranked as (
    select thread, checkpoint_id, namespace,
           row_number() over (partition by thread, namespace order by checkpoint_id desc) as place
    from cache.checkpoints where tenant = $1 and thread = any($2)
), surplus as (
    select thread, checkpoint_id, namespace from ranked where place > $3
), {_DROPPED}
"""
# What the runs $3 made in the threads $2.
PRUNE_RUNS = f"""
with surplus as (
    select thread, checkpoint_id, namespace from cache.checkpoints
    where tenant = $1 and thread = any($2) and run_id = any($3)
), {_DROPPED}
"""
DROP_THREADS = "delete from cache.checkpoint_threads where tenant = $1 and id = any($2)"


async def prune(connection: Connection, tenant: str, found: Sequence[int], keep: int) -> int:
    """Returns how many checkpoints are gone."""
    count: int = await connection.fetchval(PRUNE, tenant, list(found), keep)
    if keep == 0:
        await connection.execute(DROP_THREADS, tenant, list(found))
    return count


async def prune_runs(
    connection: Connection, tenant: str, found: Sequence[int], run_ids: Sequence[str]
) -> int:
    """Returns how many checkpoints are gone."""
    count: int = await connection.fetchval(PRUNE_RUNS, tenant, list(found), list(run_ids))
    return count


# As many as $1 of all tenants. A thread that another transaction is extending is compared again once that has ended.
SWEEP = """
with expired as (
    select tenant, id from cache.checkpoint_threads where expires_at <= statement_timestamp()
    order by expires_at limit $1
), gone as (
    delete from cache.checkpoint_threads t using expired e
    where t.tenant = e.tenant and t.id = e.id and t.expires_at <= statement_timestamp()
    returning 1
)
select count(*) from gone
"""


async def sweep(connection: Connection, limit: int) -> int:
    """Erases threads that have expired, of every tenant. Returns how many."""
    count: int = await connection.fetchval(SWEEP, limit)
    return count
