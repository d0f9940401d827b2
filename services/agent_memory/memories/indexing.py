"""How the indexer reads memories. Storing a late vector may also show that a memory is a duplicate."""

from __future__ import annotations

import asyncpg

from shared.database.index_queue import Finish, IndexedStore, StoreStatements
from shared.provenance import spoken


def _texts(row: asyncpg.Record) -> list[str]:
    places = zip(row["starts"], row["stops"], strict=True)
    return [spoken(row["who"], row["content"][start:stop]) for start, stop in places]


STATEMENTS = StoreStatements(
    schema="memory",
    items="agent_memory",
    chunks="agent_memory_chunks",
    vectors="agent_memory_vec",
    extra=["private"],
    reads=["agent_name", "content", "coalesce(speaker, '') as who"],
)


def memories(finish: Finish) -> IndexedStore:
    return IndexedStore(name="agent_memory", statements=STATEMENTS, texts=_texts, finish=finish)
