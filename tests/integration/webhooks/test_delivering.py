"""What receivers get: each event, signed, in the order of its scope, whatever they answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from aiohttp import web

from shared.database.postgres import Connection
from tests.integration.conftest import Tenant
from tests.support.calls import note, until
from tests.support.cluster import Client
from tests.support.fakes.receiver import Message, Receiver, accept, refuse

WEBHOOKS = "/api/webhooks"
WRITE = "/api/psychic-cache/write"


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with Receiver() as running:
        yield running


async def make(admin: Client, receiver: Receiver, **given: Any) -> int:
    answer = await admin.post(WEBHOOKS, {"url": receiver.url, "kinds": ["cache_write"], **given})
    assert answer.status == 201, answer
    receiver.secrets.append(answer.body["secret"])
    return int(answer.body["webhook"]["id"])


async def write(client: Client, mission: str, count: int = 1) -> None:
    for number in range(count):
        answer = await client.post(WRITE, note(mission, f"number {number} of {mission}"))
        assert answer.status == 201, answer


async def arrived(receiver: Receiver, count: int) -> list[Message]:
    async def check() -> list[Message]:
        assert len(receiver.accepted) >= count, len(receiver.accepted)
        return receiver.accepted

    return await until(check)


async def get(admin: Client, webhook_id: int) -> dict[str, Any]:
    found: dict[str, Any] = (await admin.get(f"{WEBHOOKS}/{webhook_id}")).body
    return found


async def numbered(client: Client, mission: str) -> None:
    assert (await client.get(f"/api/timeline?mission={mission}&kind=cache_write")).body["data"]


def in_order(messages: list[Message]) -> bool:
    """Whether the first arrivals of each scope's events are in the order of their numbers."""
    last: dict[str, int] = {}
    known: set[str] = set()
    for message in messages:
        if message.id in known:
            continue
        known.add(message.id)
        if message.seq < last.get(message.scope, 0):
            return False
        last[message.scope] = message.seq
    return True


async def test_events_arrive_signed_in_order_and_without_content(
    client: Client, admin_client: Client, receiver: Receiver
) -> None:
    await write(client, "before")
    await until(lambda: numbered(client, "before"))
    webhook_id = await make(admin_client, receiver)
    await asyncio.gather(*(write(client, mission, 5) for mission in ("a", "b", "c")))
    messages = await arrived(receiver, 15)
    assert len({message.id for message in messages}) == 15
    assert in_order(messages)
    assert {message.scope for message in messages} == {"mission:a", "mission:b", "mission:c"}
    for message in messages:
        assert message.body["type"] == "cache_write"
        assert message.body["data"]["kind"] == "cache_write"
        assert "number" not in json.dumps(message.body["data"]["payload"])

    async def noted() -> None:
        listed = (await admin_client.get(f"{WEBHOOKS}/{webhook_id}/deliveries?status=delivered")).body["data"]
        assert {row["event_id"] for row in listed} == {message.id for message in messages}
        assert {(row["attempts"], row["http_status"]) for row in listed} == {(1, 204)}

    await until(noted)


async def test_a_repeated_call_answers_the_same_though_the_webhook_has_sent(
    client: Client, admin_client: Client, receiver: Receiver
) -> None:
    async def keyed(path: str, body: Any, key: str) -> Any:
        return (await admin_client.post(path, body, headers={"idempotency-key": key})).body

    body = {"url": receiver.url, "kinds": ["cache_write"]}
    made = await keyed(WEBHOOKS, body, "make")
    receiver.secrets.append(made["secret"])
    rotate = f"{WEBHOOKS}/{made['webhook']['id']}/rotate"
    rotated = await keyed(rotate, {"overlap_seconds": 60}, "rotate")
    receiver.secrets.append(rotated["secret"])
    await write(client, "later", 2)
    await arrived(receiver, 2)

    async def moved() -> None:
        assert (await get(admin_client, made["webhook"]["id"]))["position"] > made["webhook"]["position"]

    await until(moved)
    old_secret_until = rotated["webhook"]["old_secret_until"]
    assert await keyed(WEBHOOKS, body, "make") == {
        "webhook": made["webhook"] | {"old_secret_until": old_secret_until},
        "secret": None,
    }
    again = await keyed(rotate, {"overlap_seconds": 60}, "rotate")
    assert again == rotated | {"secret": None}


async def test_a_failed_event_holds_back_its_scope_only(
    client: Client, admin_client: Client, receiver: Receiver
) -> None:
    async def answer(message: Message) -> web.Response:
        return web.Response(status=500 if message.scope == "mission:bad" and failing else 200)

    failing = True
    receiver.answering = answer
    webhook_id = await make(admin_client, receiver)
    await write(client, "bad", 3)
    await write(client, "good", 3)

    async def both_tried() -> None:
        assert len({message.seq for message in receiver.seen if message.scope == "mission:bad"}) == 1
        assert [message.scope for message in receiver.accepted] == ["mission:good"] * 3
        state = await get(admin_client, webhook_id)
        assert (state["waiting"], state["status"]) == (3, "active")

    await until(both_tried)
    failing = False
    assert in_order(await arrived(receiver, 6))

    async def settled() -> None:
        state = await get(admin_client, webhook_id)
        assert (state["waiting"], state["failing_since"]) == (0, None)

    await until(settled)


async def test_retry_after_is_waited_for(client: Client, admin_client: Client, receiver: Receiver) -> None:
    receiver.answering = refuse(429, **{"Retry-After": "3600"})
    webhook_id = await make(admin_client, receiver)
    await write(client, "m")

    async def tried() -> dict[str, Any]:
        rows = (await admin_client.get(f"{WEBHOOKS}/{webhook_id}/deliveries")).body["data"]
        assert [row["attempts"] for row in rows] == [1]
        return dict(rows[0])

    row = await until(tried)
    assert (row["status"], row["http_status"], row["error"]) == ("waiting", 429, "http_status")
    receiver.answering = accept
    await asyncio.sleep(3)
    assert receiver.accepted == []


async def test_410_pauses_and_resuming_goes_on_where_it_stood(
    client: Client, admin_client: Client, receiver: Receiver
) -> None:
    receiver.answering = refuse(410)
    webhook_id = await make(admin_client, receiver)
    await write(client, "m")

    async def paused() -> None:
        state = await get(admin_client, webhook_id)
        assert (state["status"], state["paused_because"]) == ("paused", "gone")

    await until(paused)
    receiver.answering = accept
    await write(client, "m", 3)
    await asyncio.sleep(1.5)
    assert receiver.accepted == []
    resumed = await admin_client.call("PATCH", f"{WEBHOOKS}/{webhook_id}", {"status": "active"})
    assert (resumed.status, resumed.body["status"]) == (200, "active")
    assert in_order(await arrived(receiver, 4))


async def test_a_redirect_is_not_followed(client: Client, admin_client: Client, receiver: Receiver) -> None:
    async with Receiver() as other:
        receiver.answering = refuse(307, Location=other.url)
        webhook_id = await make(admin_client, receiver)
        tested = await admin_client.post(f"{WEBHOOKS}/{webhook_id}/test", None)
        assert tested.body | {"event_id": ""} == {
            "delivered": False,
            "event_id": "",
            "http_status": 307,
            "error": "http_status",
        }
        assert other.seen == []


async def test_dead_letters_are_listed_and_sent_again(
    client: Client, admin_client: Client, receiver: Receiver, tenant: Tenant, sql: Connection
) -> None:
    receiver.answering = refuse(500)
    webhook_id = await make(admin_client, receiver)
    await write(client, "m", 2)

    async def tried() -> None:
        assert receiver.seen

    await until(tried)
    # As if 37 attempts had failed already.
    await sql.execute(
        "update context.webhook_deliveries set attempts = 37 where tenant = $1 and status = 'waiting'",
        tenant.name,
    )
    path = f"{WEBHOOKS}/{webhook_id}"

    async def dead() -> list[dict[str, Any]]:
        await sql.execute(
            "update context.webhook_lanes set due_at = now() where tenant = $1 and lease is null", tenant.name
        )
        rows: list[dict[str, Any]] = (await admin_client.get(f"{path}/deliveries?status=dead")).body["data"]
        assert len(rows) == 2
        return rows

    rows = await until(dead, every=0.3)
    assert rows[0]["seq"] > rows[1]["seq"]
    receiver.answering = accept
    one = await admin_client.post(f"{path}/redeliver", {"seq": rows[1]["seq"]})
    assert one.body == {"waiting": 1}
    await arrived(receiver, 1)
    assert (await admin_client.post(f"{path}/redeliver", {})).body == {"waiting": 1}
    assert {message.seq for message in await arrived(receiver, 2)} == {row["seq"] for row in rows}
    assert (await admin_client.post(f"{path}/redeliver", {"seq": 2**40})).status == 404


async def test_a_rotated_secret_overlaps(client: Client, admin_client: Client, receiver: Receiver) -> None:
    webhook_id = await make(admin_client, receiver)
    rotated = await admin_client.post(f"{WEBHOOKS}/{webhook_id}/rotate", {"overlap_seconds": 3600})
    assert rotated.body["secret"] not in receiver.secrets
    receiver.secrets.append(rotated.body["secret"])
    await write(client, "m")
    await arrived(receiver, 1)
    again = await admin_client.post(f"{WEBHOOKS}/{webhook_id}/rotate", {"overlap_seconds": 0})
    receiver.secrets = [again.body["secret"]]
    assert (await admin_client.post(f"{WEBHOOKS}/{webhook_id}/test", None)).body["delivered"]


async def test_a_bound_key_is_sent_what_it_may_read(tenant: Tenant, receiver: Receiver) -> None:
    writer = await tenant.client("write")
    bound = await tenant.client("admin", missions=["mine"])
    refused = await bound.post(WEBHOOKS, {"url": receiver.url, "missions": ["theirs"]})
    assert refused.status == 403
    await make(bound, receiver, kinds=None)
    await write(writer, "theirs", 3)
    await write(writer, "mine", 2)
    messages = await arrived(receiver, 2)
    await asyncio.sleep(1)
    assert {message.scope for message in messages} == {"mission:mine"}


async def test_a_revoked_key_takes_its_webhook_with_it(
    client: Client, admin_client: Client, tenant: Tenant, receiver: Receiver
) -> None:
    made = (await admin_client.post("/api/context/keys", {"name": "hooks", "access": "admin"})).body
    own = Client(str(admin_client.session._base_url), made["token"])
    webhook_id = await make(own, receiver)
    await own.session.close()
    assert (await admin_client.delete(f"/api/context/keys/{made['key']['id']}")).status == 200
    await asyncio.sleep(2.5)
    await write(client, "m", 2)

    async def paused() -> None:
        state = await get(admin_client, webhook_id)
        assert (state["status"], state["paused_because"]) == ("paused", "key")

    await until(paused)
    assert receiver.accepted == []
    await admin_client.call("PATCH", f"{WEBHOOKS}/{webhook_id}", {"status": "active"})
    await arrived(receiver, 2)


async def test_a_purge_takes_what_waits(
    client: Client, admin_client: Client, tenant: Tenant, receiver: Receiver, sql: Connection
) -> None:
    receiver.answering = refuse(503)
    await make(admin_client, receiver)
    await make(admin_client, receiver, missions=["gone", "gone"])
    receiver.secrets.clear()  # each webhook has its own
    await write(client, "gone", 3)
    await write(client, "stays", 2)

    async def tried() -> None:
        assert {message.scope for message in receiver.seen} == {"mission:gone", "mission:stays"}

    await until(tried)
    receipt = await admin_client.post("/api/context/purge", {"scope": "mission:gone"})
    assert receipt.body["erased"]["context"]["webhooks"] == 1
    assert receipt.body["erased"]["context"]["webhook_deliveries"] == 6
    for table in ("webhook_deliveries", "webhook_lanes"):
        scopes = await sql.fetch(f"select distinct scope from context.{table} where tenant = $1", tenant.name)
        assert [row["scope"] for row in scopes] == ["mission:stays"]
    receiver.answering = accept

    async def sent() -> None:
        # Again and again: an attempt that was under way sets the time of its next one when it ends.
        await sql.execute("update context.webhook_lanes set due_at = now() where tenant = $1", tenant.name)
        assert [message.scope for message in receiver.accepted] == ["mission:stays"] * 2

    await until(sent)


async def test_a_dead_receiver_delays_no_other(
    client: Client, admin_client: Client, receiver: Receiver
) -> None:
    ended = asyncio.Event()

    async def hang(_: Message) -> web.Response:
        await ended.wait()
        return web.Response()

    async with Receiver(answering=hang) as dead:
        await make(admin_client, dead)
        for mission in range(12):
            await write(client, f"m{mission}")
        await make(admin_client, receiver)
        await write(client, "one more")
        await arrived(receiver, 1)
        assert dead.accepted == []
        ended.set()
