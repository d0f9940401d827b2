"""How the indexer reads persistent objects and stores their vectors."""

from __future__ import annotations

import asyncpg

from shared.database.index_queue import IndexedStore, StoreStatements

STORE = "persistent_objects"
TEXTS = """
select p.tenant, p.number as item_id,
       array_agg(substr(p.content, c.start + 1, c.stop - c.start) order by c.chunk) as texts
from sessions.persistent_objects p
join unnest($1::text[], $2::bigint[]) w(tenant, number) on w.tenant = p.tenant and w.number = p.number
join sessions.persistent_chunks c on c.tenant = p.tenant and c.item_id = p.number
group by p.tenant, p.number
"""


def _texts(row: asyncpg.Record) -> list[str]:
    texts: list[str] = row["texts"]
    return texts


PERSISTENT = IndexedStore(
    name=STORE,
    statements=StoreStatements(
        schema="sessions",
        items="persistent_objects",
        chunks="persistent_chunks",
        vectors="persistent_vec",
        key="number",
        queued="cache",
    ),
    texts_sql=TEXTS,
    texts=_texts,
)
