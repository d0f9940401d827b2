"""How the indexer reads persistent objects and stores their vectors."""

from __future__ import annotations

import asyncpg

from shared.database.index_queue import IndexedStore, StoreStatements

STORE = "persistent_objects"
TEXTS = """
select p.tenant, p.number as item_id, p.content, c.starts, c.stops
from unnest($1::text[], $2::bigint[]) w(tenant, number)
cross join lateral (
    select k.tenant, k.number, k.content
    from sessions.persistent_objects k where k.tenant = w.tenant and k.number = w.number offset 0
) p
cross join lateral (
    select array_agg(k.start order by k.chunk) as starts, array_agg(k.stop order by k.chunk) as stops
    from sessions.persistent_chunks k where k.tenant = w.tenant and k.item_id = w.number
) c
where c.starts is not null
"""


def _texts(row: asyncpg.Record) -> list[str]:
    content: str = row["content"]
    return [content[start:stop] for start, stop in zip(row["starts"], row["stops"], strict=True)]


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
