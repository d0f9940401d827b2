"""Commitments: what is due, what becomes of them, and that the database's clock expires them."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import local.database
from services.agent_memory.long_term.expiry import expire, overdue_tenants
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from tests.integration.agent_memory.long_term.test_long_term import MEMORY, promise, write
from tests.integration.conftest import Tenant
from tests.support.cluster import Client


def at(**after: float) -> str:
    return (datetime.now(UTC) + timedelta(**after)).isoformat()


async def change(client: Client, memory_id: int, **changes: Any) -> dict[str, Any]:
    answer = await client.call("PATCH", f"{MEMORY}/{memory_id}", changes)
    assert answer.status == 200, answer
    body: dict[str, Any] = answer.body
    return body


async def due(client: Client, **wanted: str) -> list[int]:
    answer = await client.get(f"{MEMORY}/due", params=wanted)
    assert answer.status == 200, answer
    return [memory["id"] for memory in answer.body["data"]]


async def test_what_is_due_comes_in_order_and_by_whom_it_is_owed(client: Client) -> None:
    later = await write(client, promise("Call Ben.", due_at=at(days=3), owed_by="scout"))
    sooner = await write(client, promise("Call Ana.", due_at=at(days=1), owed_by="wren"))
    await write(client, promise("Call Zoe.", due_at=at(days=30)))
    mission = await write(client, promise("Call Max.", due_at=at(days=2), scope="mission:moria"))
    assert await due(client) == [sooner, mission, later]
    assert await due(client, owed_by="scout") == [later]
    assert await due(client, in_scope="mission:moria") == [mission]
    first = (await client.get(f"{MEMORY}/due", params={"limit": "2"})).body
    rest = (await client.get(f"{MEMORY}/due", params={"limit": "2", "cursor": first["next"]})).body
    assert [one["id"] for one in (*first["data"], *rest["data"])] == [sooner, mission, later]


async def test_what_is_done_or_cancelled_is_no_longer_due(client: Client) -> None:
    done, cancelled = await write(client, promise("A.")), await write(client, promise("B."))
    assert (await change(client, done, status="done"))["status"] == "done"
    assert (await change(client, cancelled, status="cancelled"))["status"] == "cancelled"
    assert await due(client) == []
    answer = await client.call("PATCH", f"{MEMORY}/{done}", {"status": "expired"})
    assert answer.status == 400


async def test_an_overdue_commitment_never_reads_as_open(client: Client) -> None:
    memory_id = await write(client, promise(due_at=at(days=-1)))
    assert (await client.get(f"{MEMORY}/{memory_id}")).body["status"] == "expired"
    for status, expected in (("open", []), ("expired", [memory_id])):
        listed = (await client.get(MEMORY, params={"status": status})).body["data"]
        assert [one["id"] for one in listed] == expected
    found = await client.post(f"{MEMORY}/search", {"query": "the invoice of March"})
    assert [one["status"] for one in found.body["memories"]] == ["expired"]
    block = await client.post("/api/context/assemble", {"query": "the invoice of March", "caller": "scout"})
    assert "expired" in block.body["context_block"]
    assert await due(client) == []
    assert await due(client, since=at(days=-2)) == [memory_id]
    assert (await change(client, memory_id, due_at=at(days=1)))["status"] == "open"


async def test_two_replicas_mark_a_commitment_once(
    tenant: Tenant, client: Client, database: local.database.Database, sql: Connection
) -> None:
    memory_id = await write(client, promise(due_at=at(days=-1)))
    pools = [Database(database.services["agent_memory"], connections=1) for _ in range(2)]
    for pool in pools:
        await pool.open()
    try:
        marked = [
            pool.transaction(tenant.name, lambda c: expire(c, tenant.name), Deadline(30)) for pool in pools
        ]
        await asyncio.gather(*marked)
    finally:
        for pool in pools:
            await pool.close()
    stored = await sql.fetchval("select status from memory.long_term where id = $1", memory_id)
    events = "select count(*) from timeline.events where tenant = $1 and kind = 'commitment_expire'"
    assert stored == "expired"
    assert await sql.fetchval(events, tenant.name) == 1
    assert tenant.name not in await overdue_tenants(sql)
