"""How the indexer reads memories. Storing a late vector may also show that a memory is a duplicate."""

from __future__ import annotations

import asyncpg

from shared.database.index_queue import Finish, IndexedStore, StoreStatements
from shared.provenance import spoken

TEXTS = """
select i.tenant, i.id as item_id, i.agent_name, i.content, coalesce(i.speaker, '') as who,
       array_agg(c.start order by c.chunk) as starts, array_agg(c.stop order by c.chunk) as stops
from memory.agent_memory i
join unnest($1::text[], $2::bigint[]) w(tenant, id) on w.tenant = i.tenant and w.id = i.id
join memory.agent_memory_chunks c on c.tenant = i.tenant and c.item_id = i.id
group by i.tenant, i.id
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
