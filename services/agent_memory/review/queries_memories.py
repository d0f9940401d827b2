"""The SQL that finds the memories that a reviewer should look at."""

from __future__ import annotations

import asyncpg

from services.agent_memory.memories.queries import VISIBLE, bounds
from shared.auth import Principal
from shared.database.postgres import Connection
from shared.provenance import TRUSTED
from shared.review.schemas import MOST_SHOWN, QueueRequest

LOOKED_AT = 1_000
"""Memories that one page looks at: what costs is the looking, not the finding."""
COMPARED = 20
"""Memories that one page compares with others of their agents."""
_OTHERS = 5_000
"""Memories of an agent, the newest, that one is compared with."""

_LOOKED = f"""
    select id, scope, agent_name, mission_namespace, content, user_id, written_by, source_kind, source_claim, created_at
    from memory.agent_memory
    where tenant = $1 and id < coalesce($2::bigint, 9223372036854775807)
      and {VISIBLE.format(users="$3", missions="$4", agent="$5")}
      and ($6::text is null or agent_name = $6) and ($7::text is null or mission_namespace = $7)
      and superseded_by is null
    order by id desc limit {{limit}}"""
_UNDECIDED = """
    not exists (select from memory.reviews r where r.tenant = $1 and r.store = 'agent_memory'
                and r.item_id = l.id and r.state <> 'waiting')"""
_SHOWN = f"""
    f.id, left(f.content, {MOST_SHOWN}) as content, length(f.content) > {MOST_SHOWN} as cut, f.scope, f.agent_name,
    f.mission_namespace as mission_id, f.user_id, f.written_by, f.source_kind, f.source_claim, f.created_at"""
# $10 says which of the two reasons: a source that is derived, or another one that is not trusted.
QUEUE = f"""
with looked as ({_LOOKED.format(limit=LOOKED_AT)}
), found as (
    select l.* from looked l
    where case when $10 then l.source_kind = 'derived'
               else l.source_kind <> 'derived' and (l.source_kind <> all ($8) or l.source_claim is not null) end
      and {_UNDECIDED}
    order by l.id desc limit $9
)
select {_SHOWN}, b.looked, b.last
from (select count(*) as looked, min(id) as last from looked) b left join found f on true
order by f.id desc
"""


async def queue(
    c: Connection, principal: Principal, request: QueueRequest, limit: int
) -> list[asyncpg.Record]:
    """At least one row, whose `id` is null if nothing was found. Each says how many were looked at, and to where."""
    rows: list[asyncpg.Record] = await c.fetch(
        QUEUE,
        principal.tenant,
        request.before,
        *bounds(principal),
        request.agent,
        request.mission,
        sorted(TRUSTED),
        limit,
        request.reason == "derived",
    )
    return rows


# The nearest older memory of the same agent and user that the key may see. Only memories of one chunk are compared.
# Each vector is read once, by its key, and compared with all that are looked at.
NEAR = f"""
with looked as materialized ({_LOOKED.format(limit=COMPARED)}
), compared as materialized (
    select l.id, l.scope, l.user_id, v.embedding
    from looked l join memory.agent_memory_vec v
      on v.tenant = $1 and v.item_id = l.id and v.chunk = 0 and v.model = $8
    where {_UNDECIDED}
), others as materialized (
    select m.id, a.scope, m.user_id
    from (select distinct scope, agent_name from looked) a
    cross join lateral (
        select id, user_id from memory.agent_memory
        where tenant = $1 and agent_name = a.agent_name and chunks = 1 and superseded_by is null
          and {VISIBLE.format(users="$3", missions="$4", agent="$5")}
        order by created_at desc limit {_OTHERS}
    ) m
    limit {4 * _OTHERS}
), near as (
    select distinct on (l.id) l.id, o.id as other_id, v.embedding <=> l.embedding as distance
    from others o
    cross join lateral (
        select embedding from memory.agent_memory_vec
        where tenant = $1 and item_id = o.id and chunk = 0 and model = $8 offset 0
    ) v
    join compared l on l.scope = o.scope and o.id < l.id and l.user_id is not distinct from o.user_id
    where v.embedding <=> l.embedding < $9
    order by l.id, distance
), found as (
    select l.*, n.other_id, n.distance from looked l join near n on n.id = l.id
)
select {_SHOWN}, f.distance, b.looked, b.last,
       case when o.id is not null then jsonb_build_object(
           'id', o.id, 'content', left(o.content, {MOST_SHOWN}), 'cut', length(o.content) > {MOST_SHOWN},
           'scope', o.scope, 'agent_name', o.agent_name, 'mission_id', o.mission_namespace, 'user_id', o.user_id,
           'written_by', o.written_by, 'source_kind', o.source_kind, 'source_claim', o.source_claim,
           'created_at', o.created_at) end as other
from (select count(*) as looked, min(id) as last from looked) b
left join found f on true left join memory.agent_memory o on o.tenant = $1 and o.id = f.other_id
order by f.id desc
"""


async def near_duplicates(
    c: Connection, principal: Principal, request: QueueRequest, *, model: str, distance: float
) -> list[asyncpg.Record]:
    """As `queue`."""
    rows: list[asyncpg.Record] = await c.fetch(
        NEAR,
        principal.tenant,
        request.before,
        *bounds(principal),
        request.agent,
        request.mission,
        model,
        distance,
    )
    return rows
