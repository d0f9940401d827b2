"""Addresses that webhooks may not reach: a canary on every address of this machine counts no connection."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime

import pytest

from services.context.webhooks import signing
from services.context.webhooks.sending import Sender
from shared.addresses import Reach, networks
from tests.support.cluster import Client
from tests.support.fakes.forbidden import (
    HTTP,
    LED_TO,
    LITERAL,
    LOCAL,
    REDIRECTS,
    names_lead_to,
    own_addresses,
    sent,
)
from tests.support.fakes.receiver import Canary, Receiver, refuse


@pytest.fixture
async def canary() -> AsyncIterator[Canary]:
    async with Canary() as listening:
        yield listening


@pytest.mark.parametrize("address", [*LED_TO, *own_addresses()])
async def test_a_name_that_leads_inside_is_not_followed(canary: Canary, address: str) -> None:
    with names_lead_to(address, port=canary.port):
        outcome = await sent(HTTP, f"http://hooks.example.com:{canary.port}/")
    assert (outcome.error, canary.connections) == ("forbidden_address", 0)


@pytest.mark.parametrize("host", LITERAL)
async def test_a_host_that_is_an_address_inside_is_not_called(canary: Canary, host: str) -> None:
    outcome = await sent(HTTP, f"http://{host}:{canary.port}/")
    assert (outcome.error, canary.connections) == ("forbidden_address", 0)


async def test_each_look_up_is_checked(canary: Canary) -> None:
    """A name that leads to an address that is allowed first, and elsewhere inside then."""
    sender = Sender(Reach(networks(["127.0.0.1/32"]), http=True))
    outcomes = []
    with names_lead_to("127.0.0.1", "127.0.0.2", port=canary.port):
        for _ in range(2):
            url = f"http://hooks.example.com:{canary.port}/"
            outcomes.append(await sender.send("t", url, signing.test_message(datetime.now(UTC)), [b"secret"]))
    await sender.close()
    assert [outcome.error for outcome in outcomes] == ["broken_off", "forbidden_address"]
    assert canary.connections == 1


async def test_the_control_reaches_what_is_allowed(canary: Canary) -> None:
    outcome = await sent(LOCAL, f"http://127.0.0.1:{canary.port}/")
    assert (outcome.error, canary.connections) == ("broken_off", 1)


@pytest.mark.parametrize("status", REDIRECTS)
async def test_a_redirect_to_the_inside_is_not_followed(canary: Canary, status: int) -> None:
    async with Receiver(answering=refuse(status, Location=f"http://127.0.0.1:{canary.port}/")) as receiver:
        outcome = await sent(LOCAL, receiver.url)
    assert (outcome.http_status, outcome.error, canary.connections) == (status, "http_status", 0)


async def test_a_route_refuses_them_and_names_the_field(admin_client: Client) -> None:
    made = await admin_client.post("/api/webhooks", {"url": "https://hooks.example/"})
    path = f"/api/webhooks/{made.body['webhook']['id']}"
    for url in ("https://10.0.0.1/", "https://2130706433/", "https://u@example.com/", "ftp://example.com/"):
        for answer in (
            await admin_client.post("/api/webhooks", {"url": url}),
            await admin_client.call("PATCH", path, {"url": url}),
        ):
            assert answer.status == 400
            assert [error["field"] for error in answer.body["errors"]] == ["url"]
    tested = await admin_client.post(f"{path}/test", None)
    assert (tested.status, tested.body["error"]) == (200, "unknown_host")


async def test_an_endless_answer_is_cut_off_and_its_status_counts() -> None:
    async def endless(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n")
        try:
            while True:
                writer.write(b"x" * 65_536)
                await writer.drain()
        except ConnectionError:
            writer.close()

    server = await asyncio.start_server(endless, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    outcome = await sent(LOCAL, f"http://127.0.0.1:{port}/")
    server.close()
    assert (outcome.http_status, outcome.error) == (200, None)
