"""How the indexer reads entries and stores their vectors."""

from __future__ import annotations

import asyncpg

from services.cache.entries.search import STORE
from services.cache.entries.text import entry_text
from shared.database.index_queue import IndexedStore, StoreStatements
from shared.provenance import spoken


def _texts(row: asyncpg.Record) -> list[str]:
    text = entry_text(row["content"], row["context_type"], row["metadata"])
    return [
        spoken(row["who"], text[start:stop]) for start, stop in zip(row["starts"], row["stops"], strict=True)
    ]


ENTRIES = IndexedStore(
    name=STORE,
    statements=StoreStatements(
        schema="cache",
        items="psychic_cache",
        chunks="psychic_chunks",
        vectors="psychic_vec",
        reads=["content", "metadata", "context_type", "coalesce(speaker, agent_name) as who"],
    ),
    texts=_texts,
)
