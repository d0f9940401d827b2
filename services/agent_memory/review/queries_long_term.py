"""The SQL that finds the long-term memories that a reviewer should look at."""

from __future__ import annotations

import asyncpg

from services.agent_memory.long_term.queries import VISIBLE, bounds
from shared.auth import Principal
from shared.database.postgres import Connection
from shared.provenance import TRUSTED
from shared.review.schemas import MOST_SHOWN, QueueRequest

LOOKED_AT = 1_000
"""Memories that one page looks at: what costs is the looking, not the finding."""

# $10 says which of the two reasons: a source that is derived, or another one that is not trusted.
QUEUE = f"""
with looked as (
    select id, scope, agent_name, content, user_id, written_by, source_kind, source_claim, created_at
    from memory.long_term
    where tenant = $1 and id < coalesce($2::bigint, 9223372036854775807)
      and {VISIBLE.format(users="$3", missions="$4", agent="$5")}
      and ($6::text is null or agent_name = $6) and ($7::text is null or scope = 'mission:' || $7)
      and superseded_by is null
    order by id desc limit {LOOKED_AT}
), found as (
    select l.* from looked l
    where case when $10 then l.source_kind = 'derived'
               else l.source_kind <> 'derived' and (l.source_kind <> all ($8) or l.source_claim is not null) end
      and not exists (select from memory.reviews r where r.tenant = $1 and r.store = 'memory'
                      and r.item_id = l.id and r.state <> 'waiting')
    order by l.id desc limit $9
)
select f.id, left(f.content, {MOST_SHOWN}) as content, length(f.content) > {MOST_SHOWN} as cut, f.scope, f.agent_name,
       case when f.scope like 'mission:%' then substr(f.scope, 9) end as mission_id, f.user_id, f.written_by,
       f.source_kind, f.source_claim, f.created_at, b.looked, b.last
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
