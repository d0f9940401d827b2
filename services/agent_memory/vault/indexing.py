"""How the indexer reads the parts of files."""

from __future__ import annotations

import asyncpg

from services.agent_memory.vault.queries_write import STORE
from shared.database.index_queue import IndexedStore, StoreStatements


def _texts(row: asyncpg.Record) -> list[str]:
    """Each passage below the title of its file."""
    title = row["title"]
    return [body if title in body else f"{title}\n{body}" for body in row["bodies"]]


FILES = IndexedStore(
    name=STORE,
    statements=StoreStatements(
        schema="memory",
        items="files",
        chunks="file_chunks",
        vectors="file_vec",
        reads=["title"],
        parts={"bodies": "body"},
    ),
    texts=_texts,
)
