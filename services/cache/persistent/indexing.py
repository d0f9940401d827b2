"""How the indexer reads persistent objects and stores their vectors."""

from __future__ import annotations

import asyncpg

from shared.database.index_queue import IndexedStore, StoreStatements

STORE = "persistent_objects"


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
        reads=["content"],
    ),
    texts=_texts,
)
