"""The SQL of what runs changed, and of its undoing. Callers hold the locks of the scopes whose facts they change."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

import asyncpg
import msgspec

from services.agent_memory.consolidation.changes import Belief, Change, FactRow
from services.agent_memory.facts.writes.queries import STATED, STATED_OF_FACT
from services.agent_memory.facts.writes.statements import Place
from shared.database.postgres import Connection

_ROW = """f.id, f.subject_key, f.predicate_key, f.object_key, f.valid_from, f.valid_to, f.superseded_at, f.closed_by"""
# $2 scope, $3 user, $4 subjects, $5 predicates, $6 rows that were there before.
OF_GROUPS = f"""
select {_ROW} from memory.facts f
where f.tenant = $1 and (f.id = any($6) or f.superseded_at is null and f.scope = $2
  and f.user_id is not distinct from $3 and f.source is null and f.subject_key = any($4)
  and (f.subject_key, f.predicate_key) in (select * from unnest($4::text[], $5::text[])))
order by f.id
"""


async def of_groups(
    connection: Connection,
    tenant: str,
    place: Place,
    groups: Sequence[tuple[str, str]],
    ids: Sequence[int] = (),
) -> list[FactRow]:
    """What is believed of subjects and predicates, and the rows with these ids."""
    subjects, predicates = zip(*groups, strict=True)
    rows = await connection.fetch(
        OF_GROUPS, tenant, place.scope, place.user_id, subjects, predicates, list(ids)
    )
    return list(map(FactRow.of, rows))


# $2 scope, $3 names, $4 rows that were there before.
OF_NAMES = f"""
select {_ROW} from memory.facts f
where f.tenant = $1 and (f.id = any($4) or f.superseded_at is null and f.scope = $2
  and (f.subject_key = any($3) or f.object_key = any($3)))
order by f.id
"""


async def of_names(
    connection: Connection, tenant: str, scope: str, names: Sequence[str], ids: Sequence[int] = ()
) -> list[FactRow]:
    """What is believed under names, and the rows with these ids."""
    return list(map(FactRow.of, await connection.fetch(OF_NAMES, tenant, scope, names, list(ids))))


LED_TO = "select alias_key from memory.entity_aliases where tenant = $1 and scope = $2 and entity_key = $3"


async def led_to(connection: Connection, tenant: str, scope: str, entity: str) -> list[str]:
    """The other names of an entity."""
    return [row["alias_key"] for row in await connection.fetch(LED_TO, tenant, scope, entity)]


REDIRECT_BACK = """
update memory.entity_aliases set entity_key = $4, entity = $5
where tenant = $1 and scope = $2 and alias_key = any($3)
"""


async def redirect_back(
    connection: Connection, tenant: str, scope: str, aliases: Sequence[str], entity_key: str, entity: str
) -> None:
    await connection.execute(REDIRECT_BACK, tenant, scope, list(aliases), entity_key, entity)


# $3 Changes. They are numbered on from the last one.
ADD = """
insert into memory.consolidation_changes
    (tenant, run_id, number, kind, action, item_id, turns, trust, why, undoing)
select $1, $2, $4 + g.place, r.kind, r.action, r.item_id, coalesce(r.turns, '{}'), r.trust, r.why, r.undoing
from jsonb_array_elements($3) with ordinality g(body, place)
cross join lateral jsonb_to_record(g.body) r(
    kind text, action text, item_id bigint, turns bigint[], trust text, why text, undoing jsonb)
"""
LAST = "select coalesce(max(number), 0) from memory.consolidation_changes where tenant = $1 and run_id = $2"


async def add(connection: Connection, tenant: str, run_id: int, changes: Sequence[Change]) -> None:
    last: int = await connection.fetchval(LAST, tenant, run_id)
    await connection.execute(ADD, tenant, run_id, changes, last)


OF_RUN = """
select number, kind, action, item_id, turns, trust, why from memory.consolidation_changes
where tenant = $1 and run_id = $2 and number > $3 order by number limit $4
"""


async def of_run(
    connection: Connection, tenant: str, run_id: int, after: int, limit: int
) -> list[asyncpg.Record]:
    rows: list[asyncpg.Record] = await connection.fetch(OF_RUN, tenant, run_id, after, limit)
    return rows


TO_UNDO = """
select number, kind, action, item_id, undoing, changed_at from memory.consolidation_changes
where tenant = $1 and run_id = $2 and action in ('opened', 'closed', 'replaced') order by number desc
"""


async def to_undo(connection: Connection, tenant: str, run_id: int) -> list[asyncpg.Record]:
    """The last change first."""
    rows: list[asyncpg.Record] = await connection.fetch(TO_UNDO, tenant, run_id)
    return rows


WITHDRAW = """
update memory.facts set superseded_at = $3, closed_by = $4
where tenant = $1 and id = any($2) and superseded_at is null
returning id
"""


async def withdraw(
    connection: Connection, tenant: str, ids: Sequence[int], now: datetime, by: str
) -> list[int]:
    """Ends the belief in rows. Returns those that were believed."""
    return [row["id"] for row in await connection.fetch(WITHDRAW, tenant, list(ids), now, by)]


class Reopening(msgspec.Struct, frozen=True):
    """`before` and `after` the run. Rows that changed `since` by other hands stand in the way."""

    id: int
    before: Belief
    after: Belief
    since: datetime


# A row stays as it is if somebody changed it after the run, or if a later statement holds its place.
REOPEN = f"""
with wanted as materialized (
    select r.id, (r.before ->> 'valid_from')::timestamptz as valid_from,
           (r.before ->> 'valid_to')::timestamptz as valid_to, r.before ->> 'closed_by' as closed_by,
           (r.after ->> 'valid_from')::timestamptz as left_from, (r.after ->> 'valid_to')::timestamptz as left_to,
           (r.after ->> 'believed')::boolean as left_believed, r.since
    from jsonb_to_recordset($2) as r(id bigint, before jsonb, after jsonb, since timestamptz)
), free as materialized (
    select w.* from wanted w join memory.facts f on f.tenant = $1 and f.id = w.id
    where f.valid_from = w.left_from and f.valid_to is not distinct from w.left_to
      and (f.superseded_at is null) = w.left_believed and not exists (
        select from memory.facts o
        where o.tenant = $1 and o.scope = f.scope and o.user_id is not distinct from f.user_id
          and o.source is not distinct from f.source and o.subject_key = f.subject_key
          and o.predicate_key = f.predicate_key and o.superseded_at is null and o.recorded_at > w.since
          and o.id not in (select id from wanted) and (o.single or o.object_key = f.object_key)
          and o.valid_from < coalesce(w.valid_to, 'infinity') and w.valid_from < coalesce(o.valid_to, 'infinity'))
), believed as (
    insert into memory.facts
        (tenant, {STATED}, valid_from, valid_to, recorded_at, superseded_at, revision_of, closed_by)
    select $1, {STATED_OF_FACT}, f.valid_from, f.valid_to, f.recorded_at, coalesce(f.superseded_at, $3), f.id,
           f.closed_by
    from memory.facts f join free on free.id = f.id where f.tenant = $1
)
update memory.facts f set valid_from = free.valid_from, valid_to = free.valid_to, closed_by = free.closed_by,
    recorded_at = $3, superseded_at = null
from free where f.tenant = $1 and f.id = free.id
returning f.id
"""


async def reopen(connection: Connection, tenant: str, rows: Sequence[Reopening], now: datetime) -> list[int]:
    """Makes rows as they were before the run. Returns those that it could."""
    return [row["id"] for row in await connection.fetch(REOPEN, tenant, rows, now)]


# What somebody changed after the run stays.
FORGET = """
with gone as (
    delete from memory.long_term m using jsonb_to_recordset($2) as r(id bigint, since timestamptz)
    where m.tenant = $1 and m.id = r.id and (m.updated_at <= r.since or m.status = 'expired')
    returning m.id
), unqueued as (
    delete from memory.index_queue q using gone
    where q.tenant = $1 and q.store = 'memory' and q.item_id = gone.id
)
select id from gone
"""


class Opened(msgspec.Struct, frozen=True):
    id: int
    since: datetime


async def forget(connection: Connection, tenant: str, rows: Sequence[Opened]) -> list[int]:
    """Deletes episodes and commitments that a run opened. Returns those that it could."""
    return [row["id"] for row in await connection.fetch(FORGET, tenant, rows)]
