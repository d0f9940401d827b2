"""The SQL that finds the facts that a reviewer should look at."""

from __future__ import annotations

import asyncpg

from services.agent_memory.facts.queries import CONTRADICTED, VISIBLE, bounds
from shared.auth import Principal
from shared.database.postgres import Connection
from shared.provenance import TRUSTED
from shared.review.schemas import QueueRequest

LOOKED_AT = 1_000
"""Facts that one page looks at: what costs is the looking, not the finding."""

# Facts that hold and are believed.
_LOOKED = f"""
    select f.* from memory.facts f
    where f.tenant = $1 and f.id < coalesce($2::bigint, 9223372036854775807)
      and {VISIBLE.format(users="$3", missions="$4", agent="$5", folders="$6")}
      and ($7::text is null or f.agent_name = $7) and ($8::text is null or f.scope = 'mission:' || $8)
      and f.revision_of is null and f.superseded_at is null and coalesce(f.valid_to, 'infinity') > now()
    order by f.id desc limit {LOOKED_AT}"""
_UNDECIDED = """
    not exists (select from memory.reviews r where r.tenant = $1 and r.store = 'facts'
                and r.item_id = f.id and r.state <> 'waiting')"""
_IN_WORDS = "{0}.subject || ' — ' || {0}.predicate || ' — ' || {0}.object"
_MISSION = "case when {0}.scope like 'mission:%' then substr({0}.scope, 9) end"
_SHOWN = f"""
    found.id, {_IN_WORDS.format("found")} as content, false as cut, found.scope, found.agent_name,
    {_MISSION.format("found")} as mission_id, found.user_id, found.written_by, found.source_kind, found.source_claim,
    found.recorded_at as created_at"""
# $11 says which of the two reasons: a source that is derived, or another one that is not trusted.
QUEUE = f"""
with looked as ({_LOOKED}
), found as (
    select f.* from looked f
    where case when $11 then f.source_kind = 'derived'
               else f.source_kind <> 'derived' and (f.source_kind <> all ($9) or f.source_claim is not null) end
      and {_UNDECIDED}
    order by f.id desc limit $10
)
select {_SHOWN}, b.looked, b.last
from (select count(*) as looked, min(id) as last from looked) b left join found on true
order by found.id desc
"""
DISPUTES = f"""
with looked as ({_LOOKED}
), found as (
    select f.*, other.fact as other
    from looked f
    cross join lateral (
        select jsonb_build_object(
            'id', o.id, 'content', {_IN_WORDS.format("o")}, 'cut', false, 'scope', o.scope,
            'agent_name', o.agent_name, 'mission_id', {_MISSION.format("o")}, 'user_id', o.user_id,
            'written_by', o.written_by, 'source_kind', o.source_kind, 'source_claim', o.source_claim,
            'created_at', o.recorded_at) as fact
        {CONTRADICTED.format(trusted="$9")}
          and {VISIBLE.replace("f.", "o.").format(users="$3", missions="$4", agent="$5", folders="$6")}
          and o.superseded_at is null and coalesce(o.valid_to, 'infinity') > now()
        order by o.id desc limit 1
    ) other
    where f.single and {_UNDECIDED}
    order by f.id desc limit $10
)
select {_SHOWN}, found.other, b.looked, b.last
from (select count(*) as looked, min(id) as last from looked) b left join found on true
order by found.id desc
"""


async def queue(
    c: Connection, principal: Principal, request: QueueRequest, limit: int
) -> list[asyncpg.Record]:
    """At least one row, whose `id` is null if nothing was found. Each says how many were looked at, and to where."""
    arguments = (
        principal.tenant,
        request.before,
        *bounds(principal),
        request.agent,
        request.mission,
        sorted(TRUSTED),
        limit,
    )
    disputed = request.reason == "disputed"
    more = () if disputed else (request.reason == "derived",)
    rows: list[asyncpg.Record] = await c.fetch(DISPUTES if disputed else QUEUE, *arguments, *more)
    return rows
