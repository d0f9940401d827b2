"""How the indexer reads entries and stores their vectors."""

from __future__ import annotations

import asyncpg

from services.cache.entries.search import STORE
from services.cache.entries.text import entry_text
from shared.database.index_queue import IndexedStore, StoreStatements
from shared.provenance import spoken

TEXTS = """
select i.tenant, i.id as item_id, i.content, i.metadata, i.context_type,
       coalesce(i.speaker, i.agent_name) as who, c.starts, c.stops
from unnest($1::text[], $2::bigint[]) w(tenant, id)
cross join lateral (
    select k.tenant, k.id, k.content, k.metadata, k.context_type, k.speaker, k.agent_name
    from cache.psychic_cache k where k.tenant = w.tenant and k.id = w.id offset 0
) i
cross join lateral (
    select array_agg(k.start order by k.chunk) as starts, array_agg(k.stop order by k.chunk) as stops
    from cache.psychic_chunks k where k.tenant = w.tenant and k.item_id = w.id
) c
where c.starts is not null
"""


def _texts(row: asyncpg.Record) -> list[str]:
    text = entry_text(row["content"], row["context_type"], row["metadata"])
    return [
        spoken(row["who"], text[start:stop]) for start, stop in zip(row["starts"], row["stops"], strict=True)
    ]


ENTRIES = IndexedStore(
    name=STORE,
    statements=StoreStatements(
        schema="cache", items="psychic_cache", chunks="psychic_chunks", vectors="psychic_vec"
    ),
    texts_sql=TEXTS,
    texts=_texts,
)
