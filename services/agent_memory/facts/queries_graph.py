"""The SQL that finds the facts of a question's entities."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

import asyncpg

from services.agent_memory.facts.queries import DISPUTED, SHOWN, VISIBLE, Bounds
from shared.database.postgres import Connection
from shared.provenance import TRUSTED

# Of each name, as a subject and as an object: first what may answer, then the newest.
_READ = 20
_FIRST = "(' ' || f.predicate_key || ' ' || f.{other}) like any ($12) desc, f.id desc"
# $2-$5 Bounds, $6 trusted kinds, $7 scopes, $8 user, $9 as of.
_FOUND = f"""
    f.tenant = $1 and {VISIBLE.format(users="$2", missions="$3", agent="$4", folders="$5")}
    and (f.scope = any($7) or f.user_id = $8)
    and case when $9::timestamptz is null then f.superseded_at is null
        else f.recorded_at <= $9 and coalesce(f.superseded_at, 'infinity') > $9 end
    and f.valid_from <= coalesce($9, statement_timestamp())
    and coalesce(f.valid_to, 'infinity') > coalesce($9, statement_timestamp())"""
# From how many turns or files, besides its first, runs of consolidation learned fact f. An undone run confirms nothing.
_CONFIRMED = """count(*) as confirmations, max(s.learned_at) as confirmed_at from (
        select min(c.changed_at) as learned_at, bool_or(c.action = 'opened') as first
        from memory.consolidation_changes c
        join memory.consolidation_runs r on r.tenant = c.tenant and r.id = c.run_id
        where c.tenant = $1 and r.tenant = $1 and c.kind = 'fact' and c.item_id = coalesce(f.revision_of, f.id)
          and c.action in ('opened', 'confirmed') and r.undone_at is null
          and c.changed_at <= coalesce($9::timestamptz, 'infinity')
        group by r.session_id, r.path, c.turns) s
    where not s.first"""
# $10 possible aliases, $11 possible names, $12 patterns of the question's words.
FACTS_OF = f"""
with named as materialized (
    select a.entity_key as key, a.scope, 0 as kind, min(n.place) as place,
        (array_agg(n.key order by n.place))[1] as name
    from unnest($10::text[]) with ordinality as n(key, place)
    join memory.entity_aliases a on a.alias_key = n.key
    where a.tenant = $1
    group by a.entity_key, a.scope
    union all
    select r.key, null, 1, r.place, r.key from unnest($11::text[]) with ordinality as r(key, place)
), found as (
    select named.key as entity, named.name, named.kind, named.place, t.id as fact, t.side
    from named cross join lateral (
        (select f.id, 0 as side from memory.facts f
         where {_FOUND} and f.subject_key = named.key and (named.scope is null or f.scope = named.scope)
         order by {_FIRST.format(other="object_key")} limit {_READ})
        union all
        (select f.id, 1 as side from memory.facts f
         where {_FOUND} and f.object_key = named.key and (named.scope is null or f.scope = named.scope)
         order by {_FIRST.format(other="subject_key")} limit {_READ})
    ) t
)
select found.entity, found.name, {SHOWN}, {DISPUTED.format(trusted="$6")}, f.predicate_key, again.confirmations,
    greatest(f.recorded_at, again.confirmed_at) as stated_at, coalesce($9, statement_timestamp()) as now
from found join memory.facts f on f.id = found.fact cross join lateral (
    select {_CONFIRMED}
) again where f.tenant = $1
order by found.kind, found.place, found.side, f.id desc
"""


class Asked(NamedTuple):
    """Where to look, and what may be a name in the question."""

    scopes: list[str]
    user_id: str | None
    as_of: datetime | None
    aliases: list[str]
    runs: list[str]
    words: list[str]


async def facts_of(connection: Connection, tenant: str, seen: Bounds, asked: Asked) -> list[asyncpg.Record]:
    """Aliases first, then names as they stand in the question; of each, first the newest of what was read."""
    rows: list[asyncpg.Record] = await connection.fetch(FACTS_OF, tenant, *seen, sorted(TRUSTED), *asked)
    return rows


# $2-$5 Bounds, $6 trusted kinds, $7 ids. What does not hold now is missing.
STATED = f"""
select f.id, f.subject, f.predicate, f.object, f.valid_to, {DISPUTED.format(trusted="$6")}
from memory.facts f
where f.tenant = $1 and f.id = any($7) and f.superseded_at is null
  and {VISIBLE.format(users="$2", missions="$3", agent="$4", folders="$5")}
  and f.valid_from <= statement_timestamp() and coalesce(f.valid_to, 'infinity') > statement_timestamp()
"""


async def stated(
    connection: Connection, tenant: str, seen: Bounds, ids: Sequence[int]
) -> list[asyncpg.Record]:
    """Those of the facts that still hold."""
    rows: list[asyncpg.Record] = await connection.fetch(STATED, tenant, *seen, sorted(TRUSTED), ids)
    return rows


# $2-$5 Bounds, $6 trusted kinds, $7 scopes, $8 their keys, $9 the predicate, $10 as of, $11 limit.
REFERENCES = f"""
select f.scope, f.subject, f.object from memory.facts f
where f.tenant = $1 and {VISIBLE.format(users="$2", missions="$3", agent="$4", folders="$5")}
  and f.source_kind = any($6) and f.scope = any($7) and f.subject_key = any($8) and f.predicate_key = $9
  and f.user_id is null
  and case when $10::timestamptz is null then f.superseded_at is null
      else f.recorded_at <= $10 and coalesce(f.superseded_at, 'infinity') > $10 end
  and f.valid_from <= coalesce($10, statement_timestamp())
  and coalesce(f.valid_to, 'infinity') > coalesce($10, statement_timestamp())
order by f.id desc limit $11
"""
HAS_REFERENCES = "select exists (select from memory.facts where tenant = $1 and predicate_key = $2)"


async def references(
    connection: Connection,
    tenant: str,
    seen: Bounds,
    scopes: Sequence[str],
    keys: Sequence[str],
    predicate: str,
    as_of: datetime | None,
    limit: int,
) -> list[asyncpg.Record]:
    """What trusted sources state of the scopes, each in itself, the newest first."""
    rows: list[asyncpg.Record] = await connection.fetch(
        REFERENCES, tenant, *seen, sorted(TRUSTED), scopes, keys, predicate, as_of, limit
    )
    return rows


async def has_references(connection: Connection, tenant: str, predicate: str) -> bool:
    """Whether any scope of the tenant refers to another, or did."""
    return bool(await connection.fetchval(HAS_REFERENCES, tenant, predicate))
