"""The indexer's SQL: for a schema's queue, and for each store whose items wait in it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple

import asyncpg
import msgspec
from pgvector import HalfVector

MOST_COUNTED = 100_000
"""No more items than these are counted."""


class StoreBacklog(msgspec.Struct, frozen=True):
    """What waits for its vectors."""

    store: str
    items: int
    seconds_left: float | None
    """Seconds until all of the store's items have vectors, of other tenants too; None while none are made."""


# The queue is often empty, so the planner takes the index over models and tenants for as good as the primary key. It
# would then read all that is queued, and all that was, for each item. No index serves "is not distinct from".
_SAME = """
            q.tenant = own.tenant and q.store = own.store and q.item_id = own.item_id
              and q.model is not distinct from own.model"""
# The keys of the given items' rows that nobody else has locked. $1 model, $2 stores, $3 tenants, $4 items.
_LOCKED = """
                select free.* from unnest($2::text[], $3::text[], $4::bigint[]) g(store, tenant, item_id)
                cross join lateral (
                    select q.tenant, q.store, q.item_id, q.model from {queue} q
                    where q.tenant = g.tenant and q.store = g.store and q.item_id = g.item_id
                      and q.model is not distinct from $1 and {which}
                    for update skip locked
                ) free"""


class QueueStatements:
    """Leases from one schema's queue, which serves all its stores. The database's clock times them."""

    def __init__(self, schema: str) -> None:
        queue = f"{schema}.index_queue"
        # A few items of each tenant that has some due, in the order of the tenants, from the one behind $5 on: one
        # look into the index for each tenant, however much it has queued. Not clock_timestamp, which no index serves.
        # $1 model, $2 stores, $3 how many, $4 seconds, $5 the last tenant before, $6 tenants to pass over,
        # $7 how many of each tenant.
        self.claim = f"""
            with recursive turn as (
                (select q.tenant from {queue} q where q.model = $1 and q.tenant > $5 order by q.tenant limit 1)
                union all
                select (select q.tenant from {queue} q where q.model = $1 and q.tenant > turn.tenant
                        order by q.tenant limit 1)
                from turn where turn.tenant is not null
            ), own as (
                select due.* from turn cross join lateral (
                    select q.tenant, q.store, q.item_id, q.model from {queue} q
                    where q.model = $1 and q.tenant = turn.tenant and q.due_at <= statement_timestamp()
                      and q.store = any($2::text[])
                    order by q.due_at limit $7 for update skip locked
                ) due
                where turn.tenant is not null and turn.tenant <> all($6::text[])
                limit $3
            )
            update {queue} q
            set due_at = clock_timestamp() + $4 * interval '1 second', attempts = q.attempts + 1
            from own
            where {_SAME}
            returning q.tenant, q.store, q.item_id"""
        # Those of the given items that are due. $1 model, $2 stores, $3 tenants, $4 items, $5 seconds.
        self.claim_these = f"""
            with own as ({_LOCKED.format(queue=queue, which="q.due_at <= statement_timestamp()")})
            update {queue} q set due_at = clock_timestamp() + $5 * interval '1 second', attempts = q.attempts + 1
            from own
            where {_SAME}
            returning q.tenant, q.store, q.item_id"""
        # Extends the leases that still hold, and answers their items: what is missing was deleted or queued anew.
        # $1 model, $2 stores, $3 tenants, $4 items, $5 seconds.
        self.renew = f"""
            with own as ({_LOCKED.format(queue=queue, which="q.due_at > clock_timestamp()")})
            update {queue} q set due_at = clock_timestamp() + $5 * interval '1 second'
            from own
            where {_SAME}
            returning q.store, q.tenant, q.item_id"""
        # Gives a leased item back. $1 model, $2 store, $3 tenant, $4 item, $5 seconds until it is due.
        self.give_back = f"""
            update {queue} set due_at = statement_timestamp() + $5 * interval '1 second', attempts = attempts - 1
            where model is not distinct from $1 and store = $2 and tenant = $3 and item_id = $4"""
        # Skips locked rows: another transaction is deleting them. The exponent is bounded too: power fails at 1024.
        # $1 model, $2 stores, $3 tenants, $4 items.
        self.postpone = f"""
            with own as ({_LOCKED.format(queue=queue, which="true")})
            update {queue} q
            set due_at = clock_timestamp() + least(power(2, least(attempts, 10)), 600) * interval '0.5 second'
            from own
            where {_SAME}"""
        # $1 model.
        self.backlog = f"""
            select store, count(*) as items
            from (select store from {queue} where model = $1 limit {MOST_COUNTED}) waiting group by store"""
        # $1 tenant, $2 model.
        self.backlog_of_tenant = f"""
            select store, count(*) as items
            from (select store from {queue} where tenant = $1 and model = $2 limit {MOST_COUNTED}) waiting
            group by store"""
        # $1 tenant, $2 store, $3 item, $4 model.
        self.waiting = f"""
            select exists (
                select 1 from {queue}
                where tenant = $1 and store = $2 and item_id = $3 and model is not distinct from $4)"""


# Where each chunk stands in the text of its item.
_PLACES = {"starts": "start", "stops": "stop"}


class StoreStatements:
    """What the indexer does with a store's items once they are embedded or deleted."""

    def __init__(
        self,
        *,
        schema: str,
        items: str,
        chunks: str,
        vectors: str,
        extra: Sequence[str] = (),
        key: str = "id",
        queued: str | None = None,
        reads: Sequence[str] = (),
        parts: Mapping[str, str] = _PLACES,
    ) -> None:
        """`extra` names columns that vectors copy from their chunks, `key` the column of items that is their id there.

        `queued` is the schema of the queue, if the store's is another. `reads` says what the texts are made of: columns
        of an item `k`. `parts` names the columns of its chunks that go with them, as arrays.
        """
        queue = f"{queued or schema}.index_queue"
        more = "".join(f", c.{column}" for column in extra)
        kept = "".join(f", k.{column}" for column in extra)
        names = "".join(f", {column}" for column in extra)
        read = "".join(f", {column}" for column in reads)
        arrays = ", ".join(
            f"array_agg(k.{column} order by k.chunk) as {name}" for name, column in parts.items()
        )
        # A row with `tenant` and `item_id` for each item that still exists. $1 tenants, $2 items.
        self.texts = f"""
            select i.*, c.*
            from unnest($1::text[], $2::bigint[]) w(tenant, id)
            cross join lateral (
                select k.tenant, k.{key} as item_id{read} from {schema}.{items} k
                where k.tenant = w.tenant and k.{key} = w.id offset 0
            ) i
            cross join lateral (
                select {arrays} from {schema}.{chunks} k where k.tenant = w.tenant and k.item_id = w.id
            ) c
            where c.{next(iter(parts))} is not null"""
        # Skips an item that is being deleted: eviction locks in the other order, so waiting could deadlock. Whoever
        # deletes an item also deletes its queue row. Answers the items that are done.
        # $1 model, $2 store, then a value for each vector.
        self.finish = f"""
            with given as (
                select * from unnest($3::text[], $4::bigint[], $5::smallint[], $6::halfvec[])
                    g(tenant, item_id, chunk, embedding)
            ), live as materialized (
                select own.tenant, own.id
                from (select distinct tenant, item_id from given order by tenant, item_id) g
                cross join lateral (
                    select i.tenant, i.{key} as id from {schema}.{items} i
                    where i.tenant = g.tenant and i.{key} = g.item_id for key share skip locked
                ) own
            ), stored as (
                insert into {schema}.{vectors} (tenant, scope, item_id, chunk, model, expires_at{names}, embedding)
                select c.tenant, c.scope, c.item_id, c.chunk, $1, c.expires_at{more}, g.embedding
                from live
                join given g on g.tenant = live.tenant and g.item_id = live.id
                cross join lateral (
                    select k.tenant, k.scope, k.item_id, k.chunk, k.expires_at{kept} from {schema}.{chunks} k
                    where k.tenant = g.tenant and k.item_id = g.item_id and k.chunk = g.chunk offset 0
                ) c
                on conflict (tenant, item_id, chunk, model) do update set embedding = excluded.embedding
            )
            delete from {queue} q using live
            where q.tenant = live.tenant and q.store = $2 and q.item_id = live.id and q.model is not distinct from $1
            returning q.tenant, q.item_id"""
        # $1 store, $2 tenants, $3 items.
        self.drop = f"""
            delete from {queue} q
            where q.store = $1 and (q.tenant, q.item_id) in (select * from unnest($2::text[], $3::bigint[]))
              and not exists (select from {schema}.{items} i where i.tenant = q.tenant and i.{key} = q.item_id)"""


class Embedded(NamedTuple):
    """A row of the store's `texts` statement, with a vector for each of its texts."""

    row: asyncpg.Record
    vectors: list[HalfVector]


Finish = Callable[[Sequence[Embedded]], Awaitable[None]]


class IndexedStore(msgspec.Struct, frozen=True, kw_only=True):
    """What the indexer needs to know about a store."""

    name: str
    """Its name in the queue and the metrics."""
    statements: StoreStatements
    texts: Callable[[asyncpg.Record], list[str]]
    """The texts of a row, one per chunk."""
    finish: Finish | None = None
    """Replaces the `finish` statement: stores what was embedded and removes the items from the queue."""
