"""The SQL that writes entries."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, NamedTuple

import asyncpg
import msgspec

from services.cache.missions.queries import DefaultLimits, MissionKey
from shared.database.postgres import Connection
from shared.provenance import TRUSTED
from shared.review.reviews import NOTHING_UNDER_REVIEW, scopes_of


class DefaultedMission(NamedTuple):
    tokens: int
    token_budget: int
    ttl_hours: float


class Put(msgspec.Struct, kw_only=True, omit_defaults=True):
    """An entry as `cache.put_entries` takes it, with the words that search indexes."""

    context_type: str
    content: str
    metadata: dict[str, Any]
    tags: list[str]
    written_by: str
    source_kind: str
    head: str
    """Words besides the text by which a question may name the entry."""
    starts: list[int]
    stops: list[int]
    chunks: list[str]
    configs: list[str]
    terms: list[str]
    """Those five as in `IndexedText`."""
    paths: list[str] = []
    symbols: list[str] = []
    step: str | None = None
    agent_name: str | None = None
    source_turn: int | None = None
    dispatch_id: int | None = None
    occurred_at: datetime | None = None
    session_id: str | None = None
    seq: int | None = None
    speaker: str | None = None
    user_id: str | None = None
    source_claim: str | None = None
    supersedes: int | None = None
    recalled_from: int | None = None
    ttl_hours: float | None = None
    token_count: int = 0
    bound_agent: str | None = None
    bound_missions: list[str] | None = None
    """The entry keeps only a dispatch of the key's agent and missions alive. None means any."""


# Nothing is put where one of the scopes in $9 is under review: the function's arguments depend on that.
PUT_ENTRIES = f"""
select put.entry_id, put.total_tokens, put.evicted, put.expires_at, put.refused, put.token_budget
from (select $1::text as tenant where {NOTHING_UNDER_REVIEW.format(tenant="$1", scopes="$9")} offset 0) free
cross join lateral cache.put_entries(free.tenant, $2, $3, $4, null, $5, $6, $7, $8) put
"""


class Held(Exception):
    """One of some entries may have to wait for a reviewer."""


async def put_entries(
    connection: Connection,
    mission: MissionKey,
    puts: Sequence[Put],
    *,
    model: str,
    limits: DefaultLimits,
    reviewed: bool = False,
) -> list[asyncpg.Record]:
    """A row per entry, in order. `refused` says why an entry was not written.

    Raises Held, with nothing written, if the writes of the mission or of one of the agents wait for a reviewer.
    `reviewed`: a reviewer has approved them.
    """
    scopes = {scope for put in puts for scope in scopes_of(mission.mission_id, put.agent_name)}
    rows: list[asyncpg.Record] = await connection.fetch(
        PUT_ENTRIES,
        mission.tenant,
        mission.mission_id,
        puts,
        [put.token_count for put in puts],
        model,
        limits.token_budget,
        limits.entry_budget,
        limits.ttl_hours,
        [] if reviewed else sorted(scopes),
    )
    if puts and not rows:
        raise Held
    return rows


# Both entries are of one mission, agent and user, and what is not trusted supersedes nothing that is.
_MAY_SUPERSEDE = """
      older.mission_id = newer.mission_id and older.agent_name is not distinct from newer.agent_name
      and older.user_id is not distinct from newer.user_id
      and (older.source_kind <> all ({trusted}) or newer.source_kind = any ({trusted}))"""
SUPERSEDABLE = f"""
select exists (
    select from cache.psychic_cache older
    cross join (
        select $3::text as mission_id, $4::text as agent_name, $5::text as user_id, $6::text as source_kind
    ) newer
    where older.tenant = $1 and older.id = $2 and {_MAY_SUPERSEDE.format(trusted="$7")})
"""


async def supersedable(connection: Connection, mission: MissionKey, put: Put) -> bool:
    """Whether `put` supersedes nothing, or an entry that it may supersede."""
    if put.supersedes is None:
        return True
    newer = (mission.mission_id, put.agent_name, put.user_id, put.source_kind)
    found = await connection.fetchval(SUPERSEDABLE, mission.tenant, put.supersedes, *newer, sorted(TRUSTED))
    return bool(found)


SUPERSEDE = f"""
with done as (
    update cache.psychic_cache older set superseded_by = newer.id
    from cache.psychic_cache newer
    where older.tenant = $1 and older.id = $2 and newer.tenant = $1 and newer.id = $3 and older.id <> newer.id
      and {_MAY_SUPERSEDE.format(trusted="$4")}
    returning older.id, older.scope, older.mission_id, older.agent_name, older.session_id
), told as (
    insert into timeline.events (tenant, scope, kind, mission_id, agent_name, session_id, payload)
    select $1, scope, 'cache_supersede', mission_id, agent_name, session_id,
           jsonb_build_object('id', id, 'superseded_by', $3::bigint)
    from done
)
select id from done
"""


async def supersede(connection: Connection, tenant: str, older: int, newer: int) -> None:
    """Does nothing if there is no such entry that the newer one may supersede."""
    await connection.execute(SUPERSEDE, tenant, older, newer, sorted(TRUSTED))


STANDING = """
select tokens, token_budget, ttl_hours from cache.missions where tenant = $1 and mission_id = $2
"""


async def standing(connection: Connection, mission: MissionKey, limits: DefaultLimits) -> DefaultedMission:
    """What the mission holds, and its limits, also before its first entry."""
    row = await connection.fetchrow(STANDING, mission.tenant, mission.mission_id)
    tokens, budget, hours = (0, None, None) if row is None else row
    return DefaultedMission(tokens, budget or limits.token_budget, hours or limits.ttl_hours)
