"""How the indexer reads objects and stores their vectors."""

from __future__ import annotations

import asyncpg

from shared.database.index_queue import IndexedStore, StoreStatements

STORE = "session_objects"


def _texts(row: asyncpg.Record) -> list[str]:
    content: str = row["content"]
    return [content[start:stop] for start, stop in zip(row["starts"], row["stops"], strict=True)]


OBJECTS = IndexedStore(
    name=STORE,
    statements=StoreStatements(
        schema="sessions",
        items="semantic_objects",
        chunks="object_chunks",
        vectors="object_vec",
        key="number",
        queued="cache",
        reads=["content_full as content"],
    ),
    texts=_texts,
)
