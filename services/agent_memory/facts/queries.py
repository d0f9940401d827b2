"""The SQL that reads facts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import asyncpg

from services.agent_memory.facts.schemas_reading import TimelineCursor
from shared.auth import Principal
from shared.database.postgres import Connection
from shared.provenance import TRUSTED

# A key sees facts about its users or no user, in the scopes of its missions, and what an agent keeps for itself only if
# it is the agent's or bound to no agent and no mission. Of what files state, it sees what it may read in the files.
VISIBLE = """
    ({users}::text[] is null or f.user_id is null or f.user_id = any({users}))
    and ({missions}::text[] is null or f.scope not like 'mission:%' or f.scope = any({missions}))
    and ({agent}::text is null or f.scope not like 'agent:%' or f.scope = {agent})
    and ({folders}::text[] is null or f.source is null or f.scope = any({folders}))
"""


class Bounds(NamedTuple):
    """The users, the missions' scopes, the only scope of an agent and the scopes of files of VISIBLE. None: all."""

    users: list[str] | None
    missions: list[str] | None
    agent: str | None
    folders: list[str] | None


def bounds(principal: Principal, user_id: str | None = None) -> Bounds:
    """Raises Forbidden for a user that the key has no grant for."""
    missions = principal.seen_missions()
    closed = principal.agent is not None or missions is not None
    return Bounds(
        users=principal.seen_users(user_id),
        missions=None if missions is None else [f"mission:{name}" for name in missions],
        agent=f"agent:{principal.agent or ''}" if closed else None,
        folders=principal.own_scopes(),
    )


# The id of a fact stays when its times change, so a former state of it shows the same id.
SHOWN = """coalesce(f.revision_of, f.id) as id, f.id as row, f.scope, f.subject, f.predicate, f.object, f.confidence,
    f.valid_from, f.valid_to, f.recorded_at, f.superseded_at, f.single, f.user_id, f.agent_name, f.written_by,
    f.source_kind, f.source_claim, f.source || coalesce('#L' || f.line, '') as source, f.recalled_from, f.dispatch_id,
    f.closed_by, f.subject_key, f.object_key"""
# Another value, of a source trusted as much or more, was believed at the same time to hold at the same time.
CONTRADICTED = """from memory.facts o
        where o.tenant = $1 and o.scope = f.scope and o.subject_key = f.subject_key
          and o.predicate_key = f.predicate_key and o.object_key <> f.object_key
          and case when o.source_kind = any ({trusted}) then o.single or f.source_kind <> all ({trusted})
              else o.single and f.source_kind <> all ({trusted}) end
          and (o.user_id is null or o.user_id is not distinct from f.user_id)
          and o.valid_from < coalesce(f.valid_to, 'infinity') and coalesce(o.valid_to, 'infinity') > f.valid_from
          and o.recorded_at < coalesce(f.superseded_at, 'infinity')
          and coalesce(o.superseded_at, 'infinity') > f.recorded_at"""
DISPUTED = f"f.single and exists (select {CONTRADICTED}) as disputed"
_BELIEVED = """
    (case when {known_at}::timestamptz is null then f.superseded_at is null
     else f.recorded_at <= {known_at} and coalesce(f.superseded_at, 'infinity') > {known_at} end)"""
_HELD = """
    ({every_time} or (f.valid_from <= coalesce({at}::timestamptz, {known_at}, statement_timestamp())
        and coalesce(f.valid_to, 'infinity') > coalesce({at}::timestamptz, {known_at}, statement_timestamp())))"""
# $2-$5 Bounds, $6 trusted kinds, $7 scopes, $8 predicate, $9 known at, $10 at, $11 every time, $12 before, $13 limit.
_CHOSEN = f"""
    f.tenant = $1 and {VISIBLE.format(users="$2", missions="$3", agent="$4", folders="$5")}
    and ($7::text[] is null or f.scope = any($7)) and ($8::text is null or f.predicate_key = $8)
    and {_BELIEVED.format(known_at="$9")} and {_HELD.format(at="$10", known_at="$9", every_time="$11")}
    and f.id < coalesce($12::bigint, 9223372036854775807)"""
_PAGE = f"""
select {SHOWN}, {DISPUTED.format(trusted="$6")} from memory.facts f
where {_CHOSEN}{{entity}}
order by f.id desc limit $13
"""
ALL = _PAGE.format(entity="")
# $14 the keys of an entity, $15 the scopes of the aliases that lead to them; a name is its own key in every scope.
_OF_ENTITY = """
    and (f.subject_key = any($14) or f.object_key = any($14))
    and exists (
        select from unnest($14::text[], $15::text[]) as n(key, scope)
        where n.key in (f.subject_key, f.object_key) and (n.scope is null or n.scope = f.scope))"""
OF_ENTITY = _PAGE.format(entity=_OF_ENTITY)


class Name(NamedTuple):
    """A key of an entity, in one scope or in every one."""

    key: str
    scope: str | None


class Wanted(NamedTuple):
    """Which facts to read, and as they were believed when."""

    scopes: list[str] | None = None
    predicate_key: str | None = None
    known_at: datetime | None = None
    at: datetime | None = None
    every_time: bool = False


async def page(
    connection: Connection,
    tenant: str,
    seen: Bounds,
    wanted: Wanted,
    names: Sequence[Name] | None,
    *,
    before: int | None,
    limit: int,
) -> list[asyncpg.Record]:
    """Newest first. `names` are those of an entity."""
    arguments = (tenant, *seen, sorted(TRUSTED), *wanted, before, limit)
    rows: list[asyncpg.Record]
    if names is None:
        rows = await connection.fetch(ALL, *arguments)
    else:
        keys, scopes = zip(*names, strict=True)
        rows = await connection.fetch(OF_ENTITY, *arguments, keys, scopes)
    return rows


# $3-$6 Bounds.
NAMES = f"""
select f.entity_key as key, f.scope from (
    select a.scope, a.entity_key, null::text as user_id, null::text as source from memory.entity_aliases a
    where a.tenant = $1 and a.alias_key = $2
) f
where {VISIBLE.format(users="$3", missions="$4", agent="$5", folders="$6")}
"""


async def names_of(connection: Connection, tenant: str, key: str, seen: Bounds) -> list[Name]:
    """The name's own key, and those of the entities that it leads to."""
    rows = await connection.fetch(NAMES, tenant, key, *seen)
    return [Name(key, None), *(Name(row["key"], row["scope"]) for row in rows)]


# $16 and $17: the times and the row of the last page's end.
TIMELINE = f"""
select {SHOWN}, {DISPUTED.format(trusted="$6")} from memory.facts f
where {_CHOSEN}{_OF_ENTITY}
  and (f.valid_from, f.id) > (coalesce($16::timestamptz, '-infinity'), coalesce($17::bigint, 0))
order by f.valid_from, f.id limit $13
"""


async def timeline(
    connection: Connection,
    tenant: str,
    seen: Bounds,
    wanted: Wanted,
    names: Sequence[Name],
    *,
    after: TimelineCursor | None,
    limit: int,
) -> list[asyncpg.Record]:
    """Of an entity, the earliest first."""
    keys, scopes = zip(*names, strict=True)
    since = (None, None) if after is None else (after.valid_from, after.id)
    rows: list[asyncpg.Record] = await connection.fetch(
        TIMELINE, tenant, *seen, sorted(TRUSTED), *wanted, None, limit, keys, scopes, *since
    )
    return rows


_NOW = """f.superseded_at is null and f.valid_from <= statement_timestamp()
    and coalesce(f.valid_to, 'infinity') > statement_timestamp()"""
_SEEN = VISIBLE.format(users="$2", missions="$3", agent="$4", folders="$5")
# $8 the rows that are known already.
NEIGHBOURS = f"""
select {SHOWN}, {DISPUTED.format(trusted="$6")} from memory.facts f
where f.tenant = $1 and {_SEEN} and {_NOW} and (f.subject_key = any($7) or f.object_key = any($7))
  and f.id <> all ($8)
order by f.id desc limit $9
"""


async def neighbours(
    connection: Connection, tenant: str, seen: Bounds, keys: Sequence[str], known: Sequence[int], limit: int
) -> list[asyncpg.Record]:
    """What holds now of the entities, besides what is known."""
    rows: list[asyncpg.Record] = await connection.fetch(
        NEIGHBOURS, tenant, *seen, sorted(TRUSTED), keys, known, limit
    )
    return rows


# $7 the fact. Its id leads to the row that is current, or to the last one that was.
FIND = f"""
select {SHOWN}, {DISPUTED.format(trusted="$6")} from memory.facts f
where f.tenant = $1 and {_SEEN} and f.id = $7 and f.revision_of is null
"""


async def find(connection: Connection, tenant: str, seen: Bounds, fact_id: int) -> asyncpg.Record | None:
    """As it is believed now, or was last."""
    return await connection.fetchrow(FIND, tenant, *seen, sorted(TRUSTED), fact_id)


PREDICATES = f"""
select f.predicate_key, min(f.predicate) as predicate, count(*) as facts,
       count(distinct f.subject_key) as subjects
from memory.facts f
where f.tenant = $1 and {_SEEN} and {_NOW} and f.predicate_key > coalesce($6, '')
group by f.predicate_key order by f.predicate_key limit $7
"""


async def predicates(
    connection: Connection, tenant: str, seen: Bounds, after: str | None, limit: int
) -> list[asyncpg.Record]:
    """Of what holds now, in the order of their keys."""
    rows: list[asyncpg.Record] = await connection.fetch(PREDICATES, tenant, *seen, after, limit)
    return rows


STATS = f"""
select count(*) filter (where {_NOW}) as facts,
       count(*) filter (where f.superseded_at is null) as believed,
       count(*) as recorded,
       count(distinct f.subject_key) filter (where {_NOW}) as subjects,
       count(distinct f.predicate_key) filter (where {_NOW}) as predicates,
       count(distinct f.scope) filter (where {_NOW}) as scopes
from memory.facts f where f.tenant = $1 and {_SEEN}
"""


async def stats(connection: Connection, tenant: str, seen: Bounds) -> asyncpg.Record:
    row = await connection.fetchrow(STATS, tenant, *seen)
    assert row is not None
    return row
