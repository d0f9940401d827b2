"""Another embedding model: what was written before gets its vectors too, and the old ones stay."""

from __future__ import annotations

import json
from dataclasses import replace

import asyncpg

from local.database import ROOT, Database
from shared.database.postgres import Connection
from tests.integration.shared.database.test_indexer import replicas
from tests.support.agent_memory import MANY_SECONDS, commit, fake_embedding, replica
from tests.support.calls import until
from tests.support.fakes.fake_openai import FakeOpenAI

LONG = "The heron stands in the reeds and waits. " * 100
TABLES = {"cache": "psychic", "memory": "agent_memory"}
CHUNKS = {
    "memory": "memory.long_term_chunks",
    "vault_index": "memory.file_chunks",
    "session_objects": "sessions.object_chunks",
    "persistent_objects": "sessions.persistent_chunks",
}
CHUNK = json.dumps(
    {
        **dict.fromkeys(("start", "chunk"), 0),
        **dict.fromkeys(("stop", "words", "chunks", "changed", "first_line", "last_line"), 1),
        **dict.fromkeys(("tsv", "scoped"), "'heron':1"),
        "tenant": "t",
        "scope": "shared",
        "item_id": 7,
        "body": "heron",
        "expires_at": "infinity",
    }
)


async def test_entries_and_memories_get_vectors_of_the_new_model(
    fresh_database: Database, redis_url: str
) -> None:
    sql = await asyncpg.connect(fresh_database.owner)
    with FakeOpenAI() as api:
        async with replicas(fresh_database, redis_url, api, "t") as (cache,):
            cache.service.start()
            await cache.write("short", LONG)
            before = await _covered(sql, "cache", cache.model)
        async with replicas(fresh_database, redis_url, api, "t") as (another,):
            another.service.start()
            await _reembed(sql, another.model)
            assert await _covered(sql, "cache", another.model) == before
        assert await _vectors(sql, "cache", cache.model) == before

        embedding = fake_embedding(api)
        async with replica(fresh_database, redis_url, embedding) as memories:
            await commit(memories, "t", "scout", LONG)
            before = await _covered(sql, "memory", "openai:text-embedding-3-small")
        async with replica(fresh_database, redis_url, replace(embedding, model="another")):
            await _reembed(sql, "openai:another")
            await _reembed(sql, "openai:another")
            assert await _covered(sql, "memory", "openai:another") == before
    await sql.close()


async def test_every_table_of_vectors_is_named(database: Database, sql: Connection) -> None:
    rows = await sql.fetch(
        """select table_schema || '.' || table_name as name from information_schema.columns
           where column_name = 'model' and table_name like '%\\_vec'"""
    )
    script = (ROOT / "deploy" / "postgres" / "reembed.sql").read_text()
    guide = (ROOT / "deploy" / "README.md").read_text()
    assert len(rows) >= 6
    for row in rows:
        assert f"from {row['name']} v" in script
        assert f"{row['name']}" in guide


async def test_whatever_lacks_a_vector_is_queued(fresh_database: Database) -> None:
    sql = await asyncpg.connect(fresh_database.admin)
    await sql.execute("set session_replication_role = replica")  # chunks without their items
    for table in CHUNKS.values():
        await sql.execute(
            f"insert into {table} select * from jsonb_populate_record(null::{table}, $1::text::jsonb)", CHUNK
        )
    for _ in range(2):
        await _reembed(sql, "another")
    queued = await sql.fetch(
        """select store, tenant, scope, item_id from memory.index_queue union all
           select store, tenant, scope, item_id from cache.index_queue"""
    )
    assert sorted(map(tuple, queued)) == sorted((store, "t", "shared", 7) for store in CHUNKS)
    await sql.close()


async def _reembed(sql: Connection, model: str) -> None:
    lines = (ROOT / "deploy" / "postgres" / "reembed.sql").read_text().splitlines()
    commands = "\n".join(line for line in lines if not line.startswith("\\"))
    await sql.execute(commands.replace(":'model'", f"'{model}'"))


async def _vectors(sql: Connection, schema: str, model: str) -> int:
    count: int = await sql.fetchval(
        f"select count(*) from {schema}.{TABLES[schema]}_vec where model = $1", model
    )
    return count


async def _covered(sql: Connection, schema: str, model: str) -> int:
    """The number of chunks, once each has its vector."""

    async def check() -> int:
        chunks: int = await sql.fetchval(f"select count(*) from {schema}.{TABLES[schema]}_chunks")
        assert await _vectors(sql, schema, model) == chunks > 0
        return chunks

    return await until(check, MANY_SECONDS)
