"""The SQL of what sessions were given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import asyncpg

from shared.database.postgres import Connection


class Whose(NamedTuple):
    """A session is a key's and an agent's: its subagents have contexts of their own."""

    tenant: str
    key: str
    caller: str
    session_id: str


class Gift(NamedTuple):
    """What an answer tells: an item (`after` 0), or what became of it since the position `after`."""

    handle: str
    after: int
    state: str
    scopes: list[str]


_OF = "tenant = $1 and key = $2 and caller = $3 and session_id = $4"
# $5 the last position that the host holds, $6 for how many seconds its request has been here: what was told since is on
# its way, with an answer at the same time.
FORGET = f"""
delete from context.session_given
where {_OF} and position > $5 and given_at < statement_timestamp() - $6::float8 * interval '1 second'
"""


async def forget(connection: Connection, whose: Whose, since: int, age: float) -> None:
    """Of what was told after `since`, all that was told `age` seconds ago or earlier: it never arrived."""
    await connection.execute(FORGET, *whose, since, age)


# The newest of each item.
KNOWN = f"""
select handle, position, state, scopes from (
    select distinct on (handle) handle, position, state, scopes from context.session_given
    where {_OF} order by handle, after desc
) newest order by position desc limit $5
"""


async def known(connection: Connection, whose: Whose, limit: int) -> list[asyncpg.Record]:
    """What the session was given, the newest first."""
    rows: list[asyncpg.Record] = await connection.fetch(KNOWN, *whose, limit)
    return rows


LAST = f"select coalesce(max(position), 0) from context.session_given where {_OF}"
# In one order, so that answers at once wait for each other and never in a circle.
GIVE = """
insert into context.session_given (tenant, key, caller, session_id, handle, after, state, scopes)
select $1, $2, $3, $4, g.handle, g.after, g.state, array(select jsonb_array_elements_text(g.scopes))
from jsonb_to_recordset($5::jsonb) as g(handle text, after bigint, state text, scopes jsonb)
order by g.handle, g.after
on conflict do nothing returning handle
"""


async def give(connection: Connection, whose: Whose, gifts: Sequence[Gift]) -> set[str]:
    """The handles that no other answer of the session has told meanwhile."""
    rows = await connection.fetch(GIVE, *whose, [gift._asdict() for gift in gifts])
    return {row["handle"] for row in rows}


async def last(connection: Connection, whose: Whose) -> int:
    return int(await connection.fetchval(LAST, *whose))


SWEPT_AT_ONCE = 10_000
SWEEP = f"""
delete from context.session_given where ctid = any(array(
    select ctid from context.session_given where given_at < now() - $1 * interval '1 day' limit {SWEPT_AT_ONCE}))
"""
