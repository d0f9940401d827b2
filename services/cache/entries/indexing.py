"""How the indexer reads entries and stores their vectors."""

from __future__ import annotations

import asyncpg

from services.cache.entries.search import STORE
from services.cache.entries.text import entry_text
from shared.database.index_queue import IndexedStore, StoreStatements
from shared.provenance import spoken

TEXTS = """
select i.tenant, i.id as item_id, i.content, i.metadata, i.context_type,
       coalesce(i.speaker, i.agent_name) as who,
       array_agg(c.start order by c.chunk) as starts, array_agg(c.stop order by c.chunk) as stops
from cache.psychic_cache i
join unnest($1::text[], $2::bigint[]) w(tenant, id) on w.tenant = i.tenant and w.id = i.id
join cache.psychic_chunks c on c.tenant = i.tenant and c.item_id = i.id
group by i.tenant, i.id
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
