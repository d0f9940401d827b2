"""The SQL that reads, edits and deletes entries. Reads return only what the principal may see."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import asyncpg
import msgspec

from services.cache.missions.queries import MissionKey
from shared.auth import Principal
from shared.database.postgres import Connection
from shared.provenance import utc


class EntryFilter(NamedTuple):
    """None narrows nothing. The fields stand in the order of the parameters in MATCHES."""

    context_types: Sequence[str] | None = None
    tags: Sequence[str] | None = None
    """Entries with at least one of these."""
    agent_name: str | None = None
    dispatch_id: int | None = None
    since: datetime | None = None
    until: datetime | None = None

    @property
    def empty(self) -> bool:
        return not any(value is not None for value in self)


def entry_filter(
    *,
    context_types: Sequence[str] | None,
    tags: Sequence[str] | None,
    agent_name: str | None,
    dispatch_id: int | None,
    since: datetime | None,
    until: datetime | None,
) -> EntryFilter:
    """An empty list narrows nothing either; a time without an offset is UTC."""
    return EntryFilter(
        context_types or None,
        tags or None,
        agent_name,
        dispatch_id,
        utc(since, "since"),
        utc(until, "until"),
    )


# On a row of cache.psychic_cache, with a filter's fields as $4 to $9.
MATCHES = """
($4::text[] is null or context_type = any($4)) and ($5::text[] is null or tags && $5)
and ($6::text is null or agent_name = $6) and ($7::bigint is null or dispatch_id = $7)
and ($8::timestamptz is null or created_at >= $8) and ($9::timestamptz is null or created_at < $9)
"""

# An entry about no user, or about a user that the key may see. Null means all users.
_SEEN = "({0}::text[] is null or user_id is null or user_id = any({0}))"
_ENTRY = """
select id, mission_id, context_type, content, metadata, agent_name, tags, source_turn, dispatch_id, token_count,
       created_at, expires_at, session_id, seq, speaker, user_id, occurred_at, source_kind, source_claim, recalled_from,
       superseded_by, paths, symbols, step
from cache.psychic_cache
"""

CHECKPOINT = f"""{_ENTRY}
where tenant = $1 and context_type = 'thread_checkpoint' and session_id = $2 and expires_at > now()
  and ($3::text[] is null or mission_id = any($3)) and {_SEEN.format("$4")}
  and ($5::text is null or mission_id = $5) and ($6::text is null or agent_name = $6)
  and ($7::text is null or agent_name is null or agent_name = $7)
order by ($7::text is not null and agent_name is null), id desc limit 1
"""


async def latest_checkpoint(
    connection: Connection,
    principal: Principal,
    session_id: str,
    mission_id: str | None,
    agent_name: str | None,
) -> asyncpg.Record | None:
    """The newest. A key bound to an agent reads that agent's, or else one that names no agent."""
    return await connection.fetchrow(
        CHECKPOINT,
        principal.tenant,
        session_id,
        principal.seen_missions(),
        principal.seen_users(),
        mission_id,
        agent_name,
        principal.agent,
    )


BY_ID = f"""{_ENTRY}
where tenant = $1 and id = $2 and expires_at > now() and ($3::text[] is null or mission_id = any($3))
  and {_SEEN.format("$4")}
"""


async def by_id(connection: Connection, principal: Principal, entry_id: int) -> asyncpg.Record | None:
    return await connection.fetchrow(
        BY_ID, principal.tenant, entry_id, principal.seen_missions(), principal.seen_users()
    )


_PAGE = f"""
and expires_at > now() and {_SEEN.format("$3")} and {MATCHES}
and id < coalesce($10::bigint, 9223372036854775807)
order by id desc limit $11
"""

OF_ALL_MISSIONS = f"""{_ENTRY}
where tenant = $1 and ($2::text[] is null or mission_id = any($2)) {_PAGE}
"""


async def of_all_missions(
    connection: Connection, principal: Principal, wanted: EntryFilter, *, before: int | None, limit: int
) -> list[asyncpg.Record]:
    """Newest first, from the one older than `before` on."""
    bounds = (principal.tenant, principal.seen_missions(), principal.seen_users())
    rows: list[asyncpg.Record] = await connection.fetch(OF_ALL_MISSIONS, *bounds, *wanted, before, limit)
    return rows


OF_MISSION = f"{_ENTRY} where tenant = $1 and mission_id = $2 {_PAGE}"


async def of_mission(
    connection: Connection,
    principal: Principal,
    mission_id: str,
    wanted: EntryFilter,
    *,
    before: int | None,
    limit: int,
) -> list[asyncpg.Record]:
    """Newest first. The caller has checked that the principal may read the mission."""
    bounds = (principal.tenant, mission_id, principal.seen_users())
    rows: list[asyncpg.Record] = await connection.fetch(OF_MISSION, *bounds, *wanted, before, limit)
    return rows


# The index on (tenant, scope, session_id, seq) finds numbered turns. Other turns are compared with every unnumbered
# entry of the session.
STORED_TURNS = """
with turn as materialized (
    select distinct speaker, seq, content_sha256
    from jsonb_to_recordset($5) t(speaker text, seq bigint, content_sha256 text)
), unnumbered as materialized (
    select id, expires_at, speaker, encode(sha256(convert_to(content, 'UTF8')), 'hex') as content_sha256
    from cache.psychic_cache
    where tenant = $1 and mission_id = $2 and session_id = $3 and user_id is not distinct from $4 and seq is null
      and expires_at > now() and exists (select from turn where seq is null)
      and ($6::text is null or agent_name = $6)
), stored as (
    select t.speaker, t.seq, t.content_sha256, e.id, e.expires_at
    from turn t
    join cache.psychic_cache e on e.seq = t.seq and e.speaker is not distinct from t.speaker
     and encode(sha256(convert_to(e.content, 'UTF8')), 'hex') = t.content_sha256
    where e.tenant = $1 and e.scope = 'mission:' || $2 and e.session_id = $3
      and e.user_id is not distinct from $4 and e.expires_at > now()
      and ($6::text is null or e.agent_name = $6)
    union all
    select t.speaker, t.seq, t.content_sha256, e.id, e.expires_at
    from turn t
    join unnumbered e on e.content_sha256 = t.content_sha256 and e.speaker is not distinct from t.speaker
    where t.seq is null
)
select id, expires_at, content_sha256, speaker, seq from stored order by id
"""


async def stored_turns(
    connection: Connection,
    mission: MissionKey,
    *,
    session_id: str,
    user_id: str | None,
    agent_name: str | None,
    turns: Sequence[dict[str, Any]],
) -> list[asyncpg.Record]:
    """The turns that a mission's live entries hold, identified by speaker, seq and content_sha256, oldest first.

    A turn that was said again has an entry for each time. `agent_name` is the only agent whose entries count; None
    counts all.
    """
    rows: list[asyncpg.Record] = await connection.fetch(
        STORED_TURNS, mission.tenant, mission.mission_id, session_id, user_id, turns, agent_name
    )
    return rows


# The words of tags have weight B; the others stay.
SET_TAGS = """
with stored as (
    select token_count from cache.psychic_cache where tenant = $1 and id = $2
), entry as (
    update cache.psychic_cache set tags = $3, token_count = $6
    where tenant = $1 and id = $2 and expires_at > statement_timestamp()
    returning tenant, id, mission_id, agent_name, token_count
), counters as (
    update cache.missions m set tokens = m.tokens + entry.token_count - stored.token_count
    from entry, stored where m.tenant = $1 and m.mission_id = entry.mission_id
), words as (
    select c.chunk, ts_filter(c.tsv, '{a,c,d}') || setweight(to_tsvector('english', $4), 'B') as tsv
    from cache.psychic_chunks c join entry e on e.tenant = c.tenant and e.id = c.item_id
), retagged as (
    update cache.psychic_chunks c
    set tsv = w.tsv, changed = pg_current_xact_id()::text::bigint
    from words w where c.tenant = $1 and c.item_id = $2 and c.chunk = w.chunk
), event as (
    insert into timeline.events (tenant, scope, kind, mission_id, agent_name, payload)
    select $1, 'mission:' || mission_id, 'cache_tag', mission_id, $5,
           jsonb_build_object('id', id, 'tags', cardinality($3))
    from entry
)
select stored.token_count from entry cross join stored
"""


async def set_tags(
    connection: Connection,
    mission: MissionKey,
    entry_id: int,
    *,
    tags: Sequence[str],
    head: str,
    token_count: int,
    agent: str | None,
) -> int | None:
    """The tokens that the entry had, or None when it no longer exists. `head` and `token_count` replace the entry's.

    Lock its mission first.
    """
    tokens: int | None = await connection.fetchval(
        SET_TAGS, mission.tenant, entry_id, tags, head, agent, token_count
    )
    return tokens


# A mission whose limits were lowered may exceed its budget, because its newest checkpoints stay.
FITS = """
select m.tokens <= coalesce(m.token_budget, $4)
       and exists (select from cache.psychic_cache e where e.tenant = $1 and e.id = $3)
from cache.missions m where m.tenant = $1 and m.mission_id = $2
"""


async def fits(connection: Connection, mission: MissionKey, entry_id: int, token_budget: int) -> bool:
    """Whether the entry exists and its mission is within its budget, by default `token_budget`."""
    return bool(await connection.fetchval(FITS, mission.tenant, mission.mission_id, entry_id, token_budget))


DELETE_ENTRY = """
with gone as (
    delete from cache.psychic_cache where tenant = $1 and id = $2 and expires_at > statement_timestamp()
    returning id, mission_id, token_count
), unqueued as (
    delete from cache.index_queue q using gone
    where q.tenant = $1 and q.store = 'psychic_cache' and q.item_id = gone.id
), counters as (
    update cache.missions m
    set tokens = m.tokens - gone.token_count, entries = m.entries - 1, cleared_count = m.cleared_count + 1
    from gone where m.tenant = $1 and m.mission_id = gone.mission_id
), event as (
    insert into timeline.events (tenant, scope, kind, mission_id, agent_name, payload)
    select $1, 'mission:' || mission_id, 'cache_delete', mission_id, $3,
           jsonb_build_object('id', id, 'freed_tokens', token_count)
    from gone
)
select token_count from gone
"""


async def delete_entry(connection: Connection, tenant: str, entry_id: int, agent: str | None) -> int | None:
    """The freed tokens, or None when the entry no longer exists. Lock its mission first."""
    tokens: int | None = await connection.fetchval(DELETE_ENTRY, tenant, entry_id, agent)
    return tokens


# One statement notes a batch of queries, with a row for each, but none for whom a purge erased meanwhile.
NOTE_QUERIES = """
insert into timeline.events (tenant, scope, kind, mission_id, agent_name, payload)
select tenant, 'mission:' || coalesce(mission_id, '*'), 'cache_query', mission_id, agent_name, payload
from jsonb_to_recordset($1::jsonb) as note(
    tenant text, mission_id text, agent_name text, payload jsonb, waited float8)
where not timeline.was_erased(
    tenant, array[coalesce('mission:' || mission_id, ''), coalesce('agent:' || agent_name, '')], waited)
"""


async def note_queries(connection: Connection, notes: Sequence[msgspec.Struct]) -> None:
    await connection.execute(NOTE_QUERIES, notes)
