"""The SQL that changes facts. Callers hold the locks of the scopes whose facts they change."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

import asyncpg
import msgspec

from services.agent_memory.facts.writes.statements import Place
from shared.database.postgres import Connection

LOCK_SCOPES = (
    "select pg_advisory_xact_lock(hashtextextended($1 || chr(31) || s, 7)) from unnest($2::text[]) s"
)
NOW = "select clock_timestamp()"


async def lock_scopes(connection: Connection, tenant: str, scopes: Iterable[str]) -> datetime:
    """Serializes the writes of the scopes. Returns the time from which on they are recorded."""
    await connection.execute(LOCK_SCOPES, tenant, sorted(set(scopes)))
    now: datetime = await connection.fetchval(NOW)
    return now


class Wanted(NamedTuple):
    """The current values of a subject's predicate: one of them, or all."""

    place: Place
    subject_key: str
    predicate_key: str
    object_key: str | None


CURRENT = """id, scope, user_id, source, subject_key, predicate_key, object_key, valid_from, valid_to, source_kind,
    agent_name, written_by, recorded_at"""
CURRENT_OF_FACT = ", ".join(f"f.{name.strip()}" for name in CURRENT.split(","))
READ_CURRENT = f"""
with wanted as (
    select * from jsonb_to_recordset($2) as w(
        scope text, user_id text, source text, subject_key text, predicate_key text, object_key text)
)
select {CURRENT_OF_FACT}
from memory.facts f
where f.tenant = $1 and f.superseded_at is null and f.subject_key = any($3) and exists (
    select from wanted w
    where f.scope = w.scope and f.user_id is not distinct from w.user_id and f.source is not distinct from w.source
      and (f.subject_key, f.predicate_key) = (w.subject_key, w.predicate_key)
      and (w.object_key is null or f.object_key = w.object_key))
order by f.id
"""


async def read_current(connection: Connection, tenant: str, wanted: Sequence[Wanted]) -> list[asyncpg.Record]:
    rows = [{**each.place._asdict(), **each._asdict()} for each in wanted]
    for row in rows:
        del row["place"]
    subjects = sorted({each.subject_key for each in wanted})
    found: list[asyncpg.Record] = await connection.fetch(READ_CURRENT, tenant, rows, subjects)
    return found


# An id leads to the row that is current, or to the last one that was.
FIND = f"select {CURRENT} from memory.facts where tenant = $1 and id = $2 and revision_of is null"


async def find(connection: Connection, tenant: str, fact_id: int) -> asyncpg.Record | None:
    return await connection.fetchrow(FIND, tenant, fact_id)


FIND_CURRENT = f"{FIND} and superseded_at is null"


async def find_current(connection: Connection, tenant: str, fact_id: int) -> asyncpg.Record | None:
    return await connection.fetchrow(FIND_CURRENT, tenant, fact_id)


OF_SUBJECT = f"""
select {CURRENT} from memory.facts
where tenant = $1 and scope = $2 and user_id is not distinct from $3 and source is null and subject_key = $4
  and ($5::text is null or predicate_key = $5) and ($6::text is null or object_key = $6)
  and superseded_at is null and (valid_to is null or valid_to > $7)
order by id limit $8
"""


async def of_subject(
    connection: Connection,
    tenant: str,
    place: Place,
    subject_key: str,
    predicate_key: str | None,
    object_key: str | None,
    *,
    after: datetime,
    limit: int,
) -> list[asyncpg.Record]:
    """The current facts that hold after a time."""
    rows: list[asyncpg.Record] = await connection.fetch(
        OF_SUBJECT,
        tenant,
        place.scope,
        place.user_id,
        subject_key,
        predicate_key,
        object_key,
        after,
        limit,
    )
    return rows


class Change(msgspec.Struct, frozen=True):
    """The new times of a row."""

    id: int
    valid_from: datetime
    valid_to: datetime | None


class NewRow(msgspec.Struct, frozen=True, kw_only=True):
    """A row of `memory.facts`."""

    scope: str
    user_id: str | None
    source: str | None
    agent_name: str | None
    subject: str
    predicate: str
    object: str
    subject_key: str
    predicate_key: str
    object_key: str
    confidence: float
    single: bool
    valid_from: datetime
    valid_to: datetime | None
    superseded_at: datetime | None
    """Another statement of the same request took its place."""
    written_by: str
    source_kind: str
    source_claim: str | None
    recalled_from: int | None
    dispatch_id: int | None
    line: int | None
    piece: int | None


class Part(msgspec.Struct, frozen=True):
    """A further span of a row that a statement splits."""

    copy_of: int
    valid_from: datetime
    valid_to: datetime | None


STATED = """scope, user_id, source, agent_name, subject, predicate, object, subject_key, predicate_key, object_key,
    confidence, single, written_by, source_kind, source_claim, recalled_from, dispatch_id, line, piece"""
STATED_OF_FACT = ", ".join(f"f.{name.strip()}" for name in STATED.split(","))
SUPERSEDE = """
update memory.facts set superseded_at = $3, closed_by = $4
where tenant = $1 and id = any($2) and superseded_at is null
"""
# What was believed before becomes a row of its own.
REVISE = f"""
with change as (
    select * from jsonb_to_recordset($2) as c(id bigint, valid_from timestamptz, valid_to timestamptz)
), believed as (
    insert into memory.facts
        (tenant, {STATED}, valid_from, valid_to, recorded_at, superseded_at, revision_of, closed_by)
    select $1, {STATED_OF_FACT}, f.valid_from, f.valid_to, f.recorded_at, $3, f.id, f.closed_by
    from memory.facts f join change c on c.id = f.id where f.tenant = $1
)
update memory.facts f set valid_from = c.valid_from, valid_to = c.valid_to, recorded_at = $3, closed_by = $4
from change c where f.tenant = $1 and f.id = c.id
"""
SPLIT = f"""
insert into memory.facts (tenant, {STATED}, valid_from, valid_to, recorded_at)
select $1, {STATED_OF_FACT}, p.valid_from, p.valid_to, $3
from jsonb_to_recordset($2) as p(copy_of bigint, valid_from timestamptz, valid_to timestamptz)
join memory.facts f on f.id = p.copy_of where f.tenant = $1
"""
ADD = f"""
insert into memory.facts (tenant, {STATED}, valid_from, valid_to, recorded_at, superseded_at)
select $1, {STATED}, valid_from, valid_to, $3, superseded_at from jsonb_populate_recordset(null::memory.facts, $2)
returning id, scope, user_id, source, subject_key, predicate_key, object_key, valid_from, superseded_at
"""


async def supersede(connection: Connection, tenant: str, ids: Sequence[int], now: datetime, by: str) -> None:
    await connection.execute(SUPERSEDE, tenant, ids, now, by)


async def revise(
    connection: Connection, tenant: str, changes: Sequence[Change], now: datetime, by: str
) -> None:
    await connection.execute(REVISE, tenant, changes, now, by)


async def split(connection: Connection, tenant: str, parts: Sequence[Part], now: datetime) -> None:
    await connection.execute(SPLIT, tenant, parts, now)


async def add(
    connection: Connection, tenant: str, rows: Sequence[NewRow], now: datetime
) -> list[asyncpg.Record]:
    """The rows with their ids, in any order."""
    added: list[asyncpg.Record] = await connection.fetch(ADD, tenant, rows, now)
    return added


ADD_EVENT = """
insert into timeline.events (tenant, scope, kind, mission_id, agent_name, dispatch_id, payload)
values ($1, $2, $3, case when $2 like 'mission:%' then substr($2, 9) end, $4, $5, $6)
"""


async def add_event(
    connection: Connection,
    tenant: str,
    scope: str,
    kind: str,
    payload: dict[str, Any],
    *,
    agent_name: str | None = None,
    dispatch_id: int | None = None,
) -> None:
    await connection.execute(ADD_EVENT, tenant, scope, kind, agent_name, dispatch_id, payload)
