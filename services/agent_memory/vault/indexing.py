"""How the indexer reads the parts of files."""

from __future__ import annotations

import asyncpg

from services.agent_memory.vault.queries_write import STORE
from shared.database.index_queue import IndexedStore, StoreStatements

TEXTS = """
select i.tenant, i.id as item_id, i.title, array_agg(c.body order by c.chunk) as bodies
from memory.files i
join unnest($1::text[], $2::bigint[]) w(tenant, id) on w.tenant = i.tenant and w.id = i.id
join memory.file_chunks c on c.tenant = i.tenant and c.item_id = i.id
group by i.tenant, i.id
"""


def _texts(row: asyncpg.Record) -> list[str]:
    """Each passage below the title of its file."""
    title = row["title"]
    return [body if title in body else f"{title}\n{body}" for body in row["bodies"]]


FILES = IndexedStore(
    name=STORE,
    statements=StoreStatements(schema="memory", items="files", chunks="file_chunks", vectors="file_vec"),
    texts_sql=TEXTS,
    texts=_texts,
)
