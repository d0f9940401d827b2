"""What one tenant's receivers, locks and queues do holds up nobody else, and two replicas do the work once."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from typing import Any
from unittest.mock import patch

import pytest
from aiohttp import web

from local.database import Database as Local
from services.context.webhooks import deliverer, planning, queries_sending, signing
from services.context.webhooks.deliverer import Deliverer
from services.context.webhooks.planning import Turn, pause_without_key, plan_tenant
from services.context.webhooks.sending import LOOKUPS, Sender
from shared.database.postgres import EVERY_TENANT, Connection, Database
from shared.deadline import Deadline
from tests.integration.conftest import Tenant
from tests.integration.webhooks.test_delivering import arrived, in_order, make, write
from tests.support.cluster import Client
from tests.support.fakes.forbidden import LOCAL
from tests.support.fakes.receiver import Canary, Message, Receiver

OLD = datetime(2001, 1, 1, tzinfo=UTC)
_MADE = """
insert into context.webhooks (tenant, url, held_by, secret, status, position)
values ($1, 'https://hooks.example/', $2, 'secret', $3, 0) returning id
"""
_DELIVERIES = """
insert into context.webhook_deliveries (tenant, webhook_id, seq, scope, kind, event_at, status, settled_at)
select $1, $2, n, 'shared', 'k', $3, $4, case when $4 <> 'waiting' then now() - $5::interval end
from generate_series($6::int, $7::int) n
"""


@pytest.fixture
async def own(database: Local) -> AsyncIterator[Database]:
    """A pool as a replica of the service has it."""
    pool = Database(database.services["context"])
    await pool.open()
    yield pool
    await pool.close()


@pytest.fixture
async def _removed(tenant: Tenant, sql: Connection) -> AsyncIterator[None]:
    """Other tests look at what waits for all tenants."""
    yield
    await sql.execute("delete from context.webhooks where tenant = $1", tenant.name)


async def test_slow_name_servers_of_a_tenant_hold_up_no_other() -> None:
    ended = threading.Event()

    def lookup(host: str, port: int, *_: Any) -> list[Any]:
        if host.endswith(".slow.example"):
            ended.wait(20)
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]

    sender, message = Sender(LOCAL), signing.test_message(datetime.now(UTC))
    async with Canary() as canary:
        with patch.object(socket, "getaddrinfo", lookup):
            urls = [f"http://n{number}.slow.example:{canary.port}/" for number in range(2 * LOOKUPS)]
            slow = [asyncio.create_task(sender.send("slow", url, message, [b"secret"])) for url in urls]
            await asyncio.sleep(0.1)
            async with asyncio.timeout(3):
                url = f"http://quick.example:{canary.port}/"
                outcome = await sender.send("quick", url, message, [b"secret"])
            ended.set()
            await asyncio.gather(*slow)
    await sender.close()
    assert outcome.error == "broken_off"


async def test_a_locked_webhook_does_not_make_the_loop_wait(
    own: Database, tenant: Tenant, sql: Connection
) -> None:
    await sql.execute(_MADE, tenant.name, "key:0", "active")
    async with sql.transaction():
        await sql.execute("select from context.webhooks where tenant = $1 for update", tenant.name)
        async with asyncio.timeout(2):
            await pause_without_key(own, tenant.name)


@pytest.mark.usefixtures("_removed")
async def test_a_queue_that_is_full_is_counted_once_in_a_turn(
    own: Database, client: Client, tenant: Tenant, sql: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    webhook_id = await sql.fetchval(_MADE, tenant.name, "by hand", "paused")
    full = (webhook_id, OLD, "waiting", timedelta(), 1_000_001, 1_000_000 + planning.MOST_WAITING)
    await sql.execute(_DELIVERIES, tenant.name, *full)
    await sql.execute("update context.webhooks set status = 'active' where tenant = $1", tenant.name)
    await sql.execute(
        """insert into timeline.counters (tenant, last) values ($1, 5)
           on conflict (tenant) do update set last = 5""",
        tenant.name,
    )
    turn = await _turn(own, tenant.name)
    assert turn.full == {webhook_id}

    async def fail(*_: object) -> int:
        raise AssertionError("counted again")

    monkeypatch.setattr(queries_sending, "backlog", fail)
    assert not await plan_tenant(own, tenant.name, turn)


async def _turn(own: Database, tenant: str) -> Turn:
    """After one in which no webhook was skipped because the service, which plans too, had locked it."""
    for _ in range(100):
        turn = Turn(0.0)
        assert not await plan_tenant(own, tenant, turn)
        if turn.full:
            break
        await asyncio.sleep(0.05)
    return turn


@pytest.mark.usefixtures("_removed")
async def test_what_a_paused_webhook_holds_back_is_not_late(
    own: Database, tenant: Tenant, sql: Connection
) -> None:
    webhook_id = await sql.fetchval(_MADE, tenant.name, "by hand", "paused")
    await sql.execute(_DELIVERIES, tenant.name, webhook_id, OLD, "waiting", timedelta(), 1, 3)
    found = await own.run(EVERY_TENANT, queries_sending.waiting, Deadline(5))
    assert found.oldest != OLD
    await sql.execute("update context.webhooks set status = 'active' where tenant = $1", tenant.name)
    found = await own.run(EVERY_TENANT, queries_sending.waiting, Deadline(5))
    assert found.oldest == OLD


async def test_old_deliveries_are_removed_some_at_once(
    own: Database, tenant: Tenant, sql: Connection
) -> None:
    webhook_id = await sql.fetchval(_MADE, tenant.name, "by hand", "paused")
    for number, status in enumerate(("delivered", "dead", "erased")):
        among = (status, timedelta(days=20), number * 25 + 1, number * 25 + 25)
        await sql.execute(_DELIVERIES, tenant.name, webhook_id, OLD, *among)
    kept = (deliverer._KEPT, deliverer._KEPT_DEAD)
    removed = [
        await own.run(tenant.name, lambda c: queries_sending.sweep(c, tenant.name, *kept, 20), Deadline(5))
        for _ in range(4)
    ]
    assert (removed, sum(removed)) == ([20, 20, 10, 0], 50)
    left = "select distinct status from context.webhook_deliveries where tenant = $1"
    assert [row["status"] for row in await sql.fetch(left, tenant.name)] == ["dead"]


async def test_two_replicas_send_each_event_once(
    own: Database, client: Client, admin_client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    second, sent = Deliverer(own, LOCAL), []
    original = second.sender.send

    async def send(tenant: str, url: str, message: signing.Message, keys: Any) -> Any:
        sent.append(message.id)
        return await original(tenant, url, message, keys)

    async def slowly(_: Message) -> Any:
        await asyncio.sleep(0.05)
        return web.Response()

    monkeypatch.setattr(second.sender, "send", send)
    second.start()
    try:
        async with Receiver(answering=slowly) as receiver:
            await make(admin_client, receiver)
            await asyncio.gather(*(write(client, f"m{number}", 5) for number in range(16)))
            messages = await arrived(receiver, 80)
            await asyncio.sleep(0.5)
    finally:
        await second.stop()
    ids = [message.id for message in messages]
    assert len(ids) == len(set(ids)) == 80
    assert in_order(messages)
    # Both had a part in it.
    assert 0 < len(set(sent) & set(ids)) < 80
