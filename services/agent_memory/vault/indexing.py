"""How the indexer reads the parts of files."""

from __future__ import annotations

import asyncpg

from services.agent_memory.vault.queries_write import STORE
from shared.database.index_queue import IndexedStore, StoreStatements

TEXTS = """
select i.tenant, i.id as item_id, i.title, c.bodies
from unnest($1::text[], $2::bigint[]) w(tenant, id)
cross join lateral (
    select k.tenant, k.id, k.title from memory.files k where k.tenant = w.tenant and k.id = w.id offset 0
) i
cross join lateral (
    select array_agg(k.body order by k.chunk) as bodies
    from memory.file_chunks k where k.tenant = w.tenant and k.item_id = w.id
) c
where c.bodies is not null
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
