"""Tenants take turns in the index queue: a flood of one tenant holds up no other tenant's vectors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import asyncpg
import msgspec
import pytest

from local.database import Database
from services.cache.entries.schemas import BatchInput
from shared.database.index_queue import QueueStatements
from shared.database.index_turns import ROUND
from shared.database.postgres import Connection
from shared.deadline import Deadline
from tests.integration.shared.database.test_indexer import PATIENCE, Picky, api, replicas, until_indexed
from tests.support.cache_services import intel, principal
from tests.support.calls import until

__all__ = ["api"]

LARGE = "The heron stands in the reeds and waits. " * 800
MESSAGE = "The heron stands in the reeds and waits. " * 8
FLOOD = 6
CLAIM = QueueStatements("cache").claim


@pytest.mark.parametrize("note", ["a note", "A longer note tells more. " * 100], ids=["short", "long"])
async def test_a_note_does_not_wait_for_another_tenants_long_texts(
    fresh_database: Database, redis_url: str, api: Picky, note: str
) -> None:
    sql = await asyncpg.connect(fresh_database.admin)
    async with replicas(fresh_database, redis_url, api, "flood") as (replica,):
        flood = await replica.write(*[f"{n}: {LARGE}" for n in range(FLOOD)])
        replica.tenant = "victim"
        ids = await replica.write(note)
        api.requests.clear()
        replica.service.start()
        await until_indexed(sql, "victim", ids)
        assert _embedded_before(api, note) <= 2 * ROUND
        await until(lambda: _has_some(sql, flood), PATIENCE)
    await sql.close()


async def test_a_tenants_own_note_does_not_wait_for_its_long_texts(
    fresh_database: Database, redis_url: str, api: Picky
) -> None:
    sql = await asyncpg.connect(fresh_database.admin)
    async with replicas(fresh_database, redis_url, api, "t") as (replica,):
        large = await replica.write(*[f"{n}: {LARGE}" for n in range(FLOOD)])
        ids = await replica.write("a note")
        api.requests.clear()
        replica.service.start()
        await until_indexed(sql, "t", ids)
        assert _embedded_before(api, "a note") <= 2 * ROUND
        await until(lambda: _has_some(sql, large), PATIENCE)
    await sql.close()


def _embedded_before(api: Picky, note: str) -> int:
    """The characters of other texts that were embedded before the last text of the note."""
    texts = api.texts()
    last = max(place for place, text in enumerate(texts) if text in note)
    return sum(len(text) for text in texts[:last] if text not in note)


async def _has_some(sql: Connection, ids: list[int]) -> None:
    rows = await sql.fetch("select item_id from cache.psychic_vec")
    assert {row["item_id"] for row in rows} & set(ids)


async def test_a_text_that_is_deleted_between_slices_is_forgotten(
    fresh_database: Database, redis_url: str, api: Picky, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("shared.database.index_worker._RENEW_SECONDS", 0.0)
    sql = await asyncpg.connect(fresh_database.admin)
    async with replicas(fresh_database, redis_url, api, "t") as (replica,):
        (large,) = await replica.write(LARGE)
        api.gate.clear()
        api.requests.clear()
        replica.service.start()

        async def asked() -> None:
            assert api.requests

        await until(asked, PATIENCE)
        await sql.execute("delete from cache.index_queue where item_id = $1", large)
        await sql.execute("delete from cache.psychic_cache where id = $1", large)
        api.gate.set()
        ids = await replica.write("a note")
        await until_indexed(sql, "t", ids)
        assert sum(map(len, api.texts())) < 2 * ROUND + len("a note"), "the other slices were not embedded"
    await sql.close()


async def test_a_claim_reads_a_few_rows_of_each_tenant(fresh_database: Database) -> None:
    sql = await asyncpg.connect(fresh_database.admin)
    await sql.execute(
        """insert into cache.index_queue (tenant, store, item_id, scope, model)
           select t, 'psychic_cache', n, 'mission:m', 'a-model'
           from unnest(array['a flood', 'b', 'c', 'd']) t
           cross join generate_series(1, case when t = 'a flood' then 30000 else 3 end) n"""
    )
    await sql.execute("vacuum analyze cache.index_queue")
    arguments: tuple[Any, ...] = ("a-model", ["psychic_cache"], 32, 60, "", [], 8)
    (row,) = await sql.fetch(f"explain (analyze, buffers, format json) {CLAIM}", *arguments)
    nodes = list(_nodes(json.loads(row[0])[0]["Plan"]))
    assert [node for node in nodes if node["Node Type"] in ("Seq Scan", "Sort", "Bitmap Heap Scan")] == []
    assert max(node["Actual Rows"] for node in nodes) <= 32
    await sql.execute("update cache.index_queue set due_at = clock_timestamp() - interval '1 second'")
    claimed = [row["tenant"] for row in await sql.fetch(CLAIM, *arguments)]
    assert {tenant: claimed.count(tenant) for tenant in claimed} == {"a flood": 8, "b": 3, "c": 3, "d": 3}
    again = await sql.fetch(CLAIM, "a-model", ["psychic_cache"], 4, 60, "", ["b"], 8)
    assert [row["tenant"] for row in again] == ["a flood"] * 4
    assert await sql.fetch(CLAIM, "a-model", ["psychic_cache"], 4, 60, "a flood", [], 8) == []
    await sql.close()


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", []):
        yield from _nodes(child)


async def test_an_import_keeps_nothing_waiting_that_an_agent_writes_now(
    fresh_database: Database, redis_url: str, api: Picky
) -> None:
    sql = await asyncpg.connect(fresh_database.admin)
    async with replicas(fresh_database, redis_url, api, "t") as (replica,):
        messages = [msgspec.Raw(msgspec.json.encode(intel("m", f"{n}: {MESSAGE}"))) for n in range(100)]
        await replica.service.writer.write_batch(
            principal("t"), BatchInput(entries=messages), None, Deadline(PATIENCE)
        )
        ids = await replica.write("a note")
        api.requests.clear()
        replica.service.start()
        await until_indexed(sql, "t", ids)
        assert _embedded_before(api, "a note") < 50 * len(MESSAGE)
    await sql.close()
