"""The SQL of runs, and of how far they are in each session."""

from __future__ import annotations

from typing import NamedTuple

import asyncpg

from services.agent_memory.consolidation.changes import Tally
from services.agent_memory.consolidation.learned import Source
from shared.auth import Principal
from shared.database.postgres import Connection
from shared.errors import Conflict

LEASE_SECONDS = 30.0
_ERASED = "a purge erased the session meanwhile"

KNOW = """
insert into memory.consolidation_state (tenant, session_id, scope, agent_name, user_id) values ($1, $2, $3, $4, $5)
on conflict (tenant, session_id) do nothing
"""
HOLD = """
select position, run_id, holder, coalesce(leased_until > statement_timestamp(), false) as leased
from memory.consolidation_state where tenant = $1 and session_id = $2 for update
"""


async def hold(connection: Connection, tenant: str, scope: str, source: Source) -> asyncpg.Record:
    """Keeps how far runs are in the session until the transaction ends."""
    await connection.execute(KNOW, tenant, source.session_id, scope, source.agent_name, source.user_id)
    row = await connection.fetchrow(HOLD, tenant, source.session_id)
    if row is None:
        raise Conflict(_ERASED)
    return row


ADD_RUN = """
insert into memory.consolidation_runs
    (tenant, scope, session_id, path, agent_name, mission_id, user_id, after, position, through, written_by)
values ($1, $2, $3, $4, $5, $6, $7, $8, $8, $9, $10)
returning id
"""


async def add_run(
    connection: Connection, principal: Principal, scope: str, source: Source, after: int, through: int
) -> int:
    run_id: int = await connection.fetchval(
        ADD_RUN,
        principal.tenant,
        scope,
        source.session_id,
        source.path,
        source.agent_name,
        source.mission_id,
        source.user_id,
        after,
        through,
        principal.key,
    )
    return run_id


# $3 whether it is to be about all of the session. One that is not ends here.
GO_ON = """
update memory.consolidation_runs set finished_at = case when $3 and after > 0 then statement_timestamp() end
where tenant = $1 and id = $2 returning through, finished_at is null as goes_on
"""


async def go_on(connection: Connection, tenant: str, run_id: int, *, from_start: bool) -> int | None:
    """The last event of a run that was broken off, or None if another one is to begin in its place."""
    row = await connection.fetchrow(GO_ON, tenant, run_id, from_start)
    return row["through"] if row is not None and row["goes_on"] else None


# $3 and $4 the events that a run is about.
STOPS = """
select distinct r.position from memory.consolidation_runs r
where r.tenant = $1 and r.session_id = $2 and r.finished_at is not null
  and r.position > $3 and r.position < $4
order by r.position
"""


async def stops(connection: Connection, tenant: str, session_id: str, after: int, last: int) -> list[int]:
    """Where earlier runs over a session ended."""
    rows = await connection.fetch(STOPS, tenant, session_id, after, last)
    return [row["position"] for row in rows]


LEASE = """
update memory.consolidation_state set position = $3, run_id = $4, holder = $5,
    leased_until = statement_timestamp() + $6 * interval '1 second'
where tenant = $1 and session_id = $2
"""


async def lease(
    connection: Connection, tenant: str, session_id: str, position: int, run_id: int, holder: str
) -> None:
    await connection.execute(LEASE, tenant, session_id, position, run_id, holder, LEASE_SECONDS)


RELEASE = """
update memory.consolidation_state set position = $3, holder = null, leased_until = null,
    run_id = case when $4 then null else run_id end
where tenant = $1 and session_id = $2
"""


async def release(
    connection: Connection, tenant: str, session_id: str, position: int, *, finished: bool
) -> None:
    await connection.execute(RELEASE, tenant, session_id, position, finished)


LET_GO = """
update memory.consolidation_state set holder = null, leased_until = null
where tenant = $1 and session_id = $2 and holder = $3
"""


async def let_go(connection: Connection, tenant: str, session_id: str, holder: str) -> None:
    await connection.execute(LET_GO, tenant, session_id, holder)


HOLD_RUN = """
select r.* from memory.consolidation_runs r where r.tenant = $1 and r.id = $2 for no key update
"""


async def hold_run(connection: Connection, tenant: str, run_id: int) -> asyncpg.Record | None:
    return await connection.fetchrow(HOLD_RUN, tenant, run_id)


ADVANCE = """
update memory.consolidation_runs set position = $3, tally = $4, skipped = $5,
    finished_at = case when $6 then statement_timestamp() end
where tenant = $1 and id = $2
"""


async def advance(
    connection: Connection,
    tenant: str,
    run_id: int,
    position: int,
    tally: Tally,
    skipped: dict[str, int],
    *,
    finished: bool,
) -> None:
    await connection.execute(ADVANCE, tenant, run_id, position, tally, skipped, finished)


# A key that is bound to an agent or to missions reaches only runs over their sessions, as the sessions themselves. A
# file belongs to the scope of its folder.
_VISIBLE = """
    case when r.path is null then
        ($2::text is null or r.agent_name = $2) and ($3::text[] is null or r.mission_id = any($3))
        and ($4::text[] is null or r.user_id is null or r.user_id = any($4))
    else $5::text[] is null or r.scope = any($5) end
"""


class Reach(NamedTuple):
    """The values of _VISIBLE. None means any."""

    agent: str | None
    missions: list[str] | None
    users: list[str] | None
    scopes: list[str] | None

    @classmethod
    def of(cls, principal: Principal) -> Reach:
        return cls(principal.agent, principal.seen_missions(), principal.seen_users(), principal.own_scopes())


FIND_RUN = f"select r.* from memory.consolidation_runs r where r.tenant = $1 and r.id = $6 and {_VISIBLE}"


async def find_run(connection: Connection, principal: Principal, run_id: int) -> asyncpg.Record | None:
    return await connection.fetchrow(FIND_RUN, principal.tenant, *Reach.of(principal), run_id)


RUNS = f"""
select r.* from memory.consolidation_runs r
where r.tenant = $1 and {_VISIBLE} and ($6::text is null or r.session_id = $6)
  and ($7::text is null or r.path = $7) and ($8::bigint is null or r.id < $8)
order by r.id desc limit $9
"""


async def runs(
    connection: Connection,
    principal: Principal,
    session_id: str | None,
    path: str | None,
    before: int | None,
    limit: int,
) -> list[asyncpg.Record]:
    """Newest first."""
    rows: list[asyncpg.Record] = await connection.fetch(
        RUNS, principal.tenant, *Reach.of(principal), session_id, path, before, limit
    )
    return rows


UNDONE = """
update memory.consolidation_runs set undone_at = statement_timestamp(), undone_by = $3,
    finished_at = coalesce(finished_at, statement_timestamp())
where tenant = $1 and id = $2
"""


async def undone(connection: Connection, tenant: str, run_id: int, by: str) -> None:
    await connection.execute(UNDONE, tenant, run_id, by)


# A session's run that is undone before it is finished is not gone on with.
DROP_UNFINISHED = """
update memory.consolidation_state set run_id = null, holder = null, leased_until = null
where tenant = $1 and session_id = $2 and run_id = $3
"""


async def drop_unfinished(connection: Connection, tenant: str, session_id: str, run_id: int) -> None:
    await connection.execute(DROP_UNFINISHED, tenant, session_id, run_id)
