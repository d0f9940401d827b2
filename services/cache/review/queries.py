"""The SQL that finds the entries that a reviewer should look at."""

from __future__ import annotations

import asyncpg

from shared.auth import Principal
from shared.database.postgres import Connection
from shared.provenance import TRUSTED
from shared.review.schemas import MOST_SHOWN, QueueRequest

LOOKED_AT = 1_000
"""Entries that one page looks at: what costs is the looking, not the finding."""

# $9 says which of the two reasons: a source that is derived, or another one that is not trusted.
QUEUE = f"""
with looked as (
    select id, mission_id, content, agent_name, user_id, written_by, source_kind, source_claim, created_at
    from cache.psychic_cache
    where tenant = $1 and expires_at > now() and id < coalesce($2::bigint, 9223372036854775807)
      and ($3::text[] is null or mission_id = any($3))
      and ($4::text[] is null or user_id is null or user_id = any($4))
      and ($5::text is null or agent_name = $5) and ($6::text is null or mission_id = $6)
    order by id desc limit {LOOKED_AT}
), found as (
    select l.* from looked l
    where case when $9 then l.source_kind = 'derived'
               else l.source_kind <> 'derived' and (l.source_kind <> all ($7) or l.source_claim is not null) end
      and not exists (select from cache.reviews r where r.tenant = $1 and r.store = 'psychic_cache'
                      and r.item_id = l.id and r.state <> 'waiting')
    order by l.id desc limit $8
)
select f.id, left(f.content, {MOST_SHOWN}) as content, length(f.content) > {MOST_SHOWN} as cut,
       'mission:' || f.mission_id as scope, f.mission_id, f.agent_name, f.user_id, f.written_by, f.source_kind,
       f.source_claim, f.created_at, b.looked, b.last
from (select count(*) as looked, min(id) as last from looked) b left join found f on true
order by f.id desc
"""


async def queue(
    connection: Connection, principal: Principal, request: QueueRequest, limit: int
) -> list[asyncpg.Record]:
    """At least one row, whose `id` is null if nothing was found. Each says how many were looked at, and to where."""
    rows: list[asyncpg.Record] = await connection.fetch(
        QUEUE,
        principal.tenant,
        request.before,
        principal.seen_missions(),
        principal.seen_users(),
        request.agent,
        request.mission,
        sorted(TRUSTED),
        limit,
        request.reason == "derived",
    )
    return rows
