"""The SQL of summaries: which objects wait for theirs in the cache's queue, and what they get."""

from __future__ import annotations

from collections.abc import Sequence

import asyncpg
import msgspec

from shared.database.postgres import Connection

STORE = "object_summaries"
"""In the queue, it stands for the store and for the model."""


# What was claimed and is still there. $1 tenants, $2 numbers.
TEXTS = """
select o.tenant, o.number, o.session_id, o.object_type, o.source_key, o.content_full, o.tokens_l0,
       o.superseded_by is not null as superseded, q.attempts
from unnest($1::text[], $2::bigint[]) w(tenant, number)
join sessions.semantic_objects o on o.tenant = w.tenant and o.number = w.number
join cache.index_queue q on q.tenant = w.tenant and q.item_id = w.number
    and q.store = 'object_summaries' and q.model = 'object_summaries'
order by q.due_at, o.number
"""
# $1 tenants, $2 numbers.
DROP = """
delete from cache.index_queue q
where q.store = 'object_summaries' and q.model = 'object_summaries'
  and (q.tenant, q.item_id) in (select * from unnest($1::text[], $2::bigint[]))
  and not exists (select from sessions.semantic_objects o where o.tenant = q.tenant and o.number = q.item_id)
"""


async def texts(connection: Connection, claimed: Sequence[asyncpg.Record]) -> list[asyncpg.Record]:
    """The claimed objects, oldest first. Those that were deleted leave the queue."""
    given = [row["tenant"] for row in claimed], [row["item_id"] for row in claimed]
    rows: list[asyncpg.Record] = await connection.fetch(TEXTS, *given)
    if len(rows) < len(claimed):
        await connection.execute(DROP, *given)
    return rows


class Made(msgspec.Struct, kw_only=True):
    """The columns of an object that its summaries are."""

    summary_detailed: str | None = None
    summary_compact: str | None = None
    losses_l1: list[str] = []
    losses_l2: list[str] = []
    can_answer_l1: list[str] = []
    can_answer_l2: list[str] = []
    key_entities: list[str]
    tokens_l1: int | None = None
    tokens_l2: int | None = None


class Kept(Made, kw_only=True):
    """Made of an object, at an attempt."""

    number: int
    attempts: int


_TYPES = """number bigint, attempts int, summary_detailed text, summary_compact text, losses_l1 jsonb, losses_l2 jsonb,
        can_answer_l1 jsonb, can_answer_l2 jsonb, key_entities jsonb, tokens_l1 int, tokens_l2 int"""


# $2 Kept of one tenant. Whoever claimed an object later has counted one attempt more, so only the last claim is kept.
# It waits for no lock: a purge takes them in another order.
KEEP = f"""
with given as materialized (
    select * from jsonb_to_recordset($2) r({_TYPES})
), claimed as materialized (
    select q.tenant, q.item_id from cache.index_queue q
    join given g on g.number = q.item_id and g.attempts = q.attempts
    where q.tenant = $1 and q.store = 'object_summaries' and q.model = 'object_summaries'
    for update of q skip locked
), live as materialized (
    select o.tenant, o.number from sessions.semantic_objects o
    join claimed c on c.tenant = o.tenant and c.item_id = o.number
    where o.tenant = $1
    for no key update of o skip locked
), done as (
    delete from cache.index_queue q using live
    where q.tenant = $1 and q.store = 'object_summaries' and q.item_id = live.number and q.model = 'object_summaries'
)
update sessions.semantic_objects o
set {", ".join(f"{name} = g.{name}" for name in Made.__struct_fields__)}
from live join given g on g.number = live.number
where o.tenant = $1 and o.number = live.number
returning o.number
"""


async def keep(connection: Connection, tenant: str, kept: Sequence[Kept]) -> set[int]:
    """Those that it has kept: of the others, a lock was in the way, or somebody else claimed them since."""
    return {row["number"] for row in await connection.fetch(KEEP, tenant, kept)}


# $2 the object's number.
GIVE_UP = """
delete from cache.index_queue q
where q.tenant = $1 and q.store = 'object_summaries' and q.item_id = $2 and q.model = 'object_summaries'
"""


async def give_up(connection: Connection, tenant: str, number: int) -> None:
    """The object stays without summaries: it goes straight to its line."""
    await connection.execute(GIVE_UP, tenant, number)
