"""How the indexer reads memories. Storing a late vector may also show that a memory is a duplicate."""

from __future__ import annotations

import asyncpg

from shared.database.index_queue import Finish, IndexedStore, StoreStatements
from shared.provenance import spoken

TEXTS = """
select i.tenant, i.id as item_id, i.agent_name, i.content, coalesce(i.speaker, '') as who, c.starts, c.stops
from unnest($1::text[], $2::bigint[]) w(tenant, id)
cross join lateral (
    select k.tenant, k.id, k.agent_name, k.content, k.speaker
    from memory.agent_memory k where k.tenant = w.tenant and k.id = w.id offset 0
) i
cross join lateral (
    select array_agg(k.start order by k.chunk) as starts, array_agg(k.stop order by k.chunk) as stops
    from memory.agent_memory_chunks k where k.tenant = w.tenant and k.item_id = w.id
) c
where c.starts is not null
"""


def _texts(row: asyncpg.Record) -> list[str]:
    places = zip(row["starts"], row["stops"], strict=True)
    return [spoken(row["who"], row["content"][start:stop]) for start, stop in places]


STATEMENTS = StoreStatements(
    schema="memory",
    items="agent_memory",
    chunks="agent_memory_chunks",
    vectors="agent_memory_vec",
    extra=["private"],
)


def memories(finish: Finish) -> IndexedStore:
    return IndexedStore(
        name="agent_memory", statements=STATEMENTS, texts_sql=TEXTS, texts=_texts, finish=finish
    )
