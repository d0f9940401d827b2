"""How the indexer reads objects and stores their vectors."""

from __future__ import annotations

import asyncpg

from shared.database.index_queue import IndexedStore, StoreStatements

STORE = "session_objects"
TEXTS = """
select o.tenant, o.number as item_id, c.texts
from unnest($1::text[], $2::bigint[]) w(tenant, number)
cross join lateral (
    select k.tenant, k.number, k.content_full
    from sessions.semantic_objects k where k.tenant = w.tenant and k.number = w.number offset 0
) o
cross join lateral (
    select array_agg(substr(o.content_full, k.start + 1, k.stop - k.start) order by k.chunk) as texts
    from sessions.object_chunks k where k.tenant = w.tenant and k.item_id = w.number
) c
where c.texts is not null
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
