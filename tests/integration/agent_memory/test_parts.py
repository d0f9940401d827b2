"""Many words are written in parts, and are what one statement would have written."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from local.database import Database as Local
from services.agent_memory.memories.commits import queries_write
from services.agent_memory.memories.commits.content import MemoryContent
from services.agent_memory.memories.commits.rows import Hashes, memory_row, words_of
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline

LONG = MemoryContent(
    content=" ".join(f"Buoy {number} floats near pier {number}, as Ann said." for number in range(400)),
    memory_type="lesson_learned",
    written_by="k1",
    session_id="s1",
    seq=2,
    speaker="Ann",
)
BEFORE = MemoryContent(
    content="A zeppelin was there.", memory_type="lesson_learned", written_by="k1", session_id="s1", seq=1
)
AFTER = MemoryContent(
    content=" ".join(f"Then Bob moored boat {number}." for number in range(60)),
    memory_type="lesson_learned",
    written_by="k1",
    session_id="s1",
    seq=3,
)
WORDS = """
select m.seq, c.chunk, c.chunks, c.start, c.stop, c.words, c.tsv::text, c.body
from memory.agent_memory_chunks c join memory.agent_memory m on m.tenant = c.tenant and m.id = c.item_id
where c.tenant = $1 order by 1, 2
"""


@pytest.fixture
async def database(fresh_database: Local) -> AsyncIterator[Database]:
    database = Database(fresh_database.services["agent_memory"])
    await database.open()
    yield database
    await database.close()


async def written(database: Database, tenant: str) -> list[Any]:
    rows = [
        memory_row(tenant, "scout", each, Hashes(bytes([each.seq or 0]) * 32, None))
        for each in (BEFORE, LONG, AFTER)
    ]

    async def work(c: Connection) -> list[asyncpg.Record]:
        words = list(map(words_of, rows))
        ids = await queries_write.insert(
            c, tenant, rows, words, [None] * len(rows), model="a-model", events=False
        )
        found: list[asyncpg.Record] = await c.fetch(WORDS, tenant)
        anew = memory_row(tenant, "scout", LONG, Hashes(bytes(32), None), id=ids[1])
        await queries_write.restate(c, anew, words_of(anew))
        return [*found, *(await c.fetch(WORDS, tenant))]

    return await database.transaction(tenant, work, Deadline(30))


async def test_parts_are_what_one_statement_writes(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(queries_write, "_CHUNKS_AT_ONCE", 10_000)
    whole = await written(database, "whole")
    assert "zeppelin" in whole[1]["tsv"]
    assert len(whole) > 2 * 20
    monkeypatch.setattr(queries_write, "_CHUNKS_AT_ONCE", 5)
    parts = await written(database, "parts")
    assert [tuple(row) for row in parts] == [tuple(row) for row in whole]
