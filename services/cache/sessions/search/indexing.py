"""How the indexer reads objects and stores their vectors."""

from __future__ import annotations

import asyncpg

from shared.database.index_queue import IndexedStore, StoreStatements

STORE = "session_objects"
TEXTS = """
select o.tenant, o.number as item_id,
       array_agg(substr(o.content_full, c.start + 1, c.stop - c.start) order by c.chunk) as texts
from sessions.semantic_objects o
join unnest($1::text[], $2::bigint[]) w(tenant, number) on w.tenant = o.tenant and w.number = o.number
join sessions.object_chunks c on c.tenant = o.tenant and c.item_id = o.number
group by o.tenant, o.number
"""


def _texts(row: asyncpg.Record) -> list[str]:
    texts: list[str] = row["texts"]
    return texts


OBJECTS = IndexedStore(
    name=STORE,
    statements=StoreStatements(
        schema="sessions",
        items="semantic_objects",
        chunks="object_chunks",
        vectors="object_vec",
        key="number",
        queued="cache",
    ),
    texts_sql=TEXTS,
    texts=_texts,
)
