"""Addresses that webhooks may not reach, as names lead to them and as hosts of URLs."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any
from unittest.mock import patch

from services.context.webhooks import signing
from services.context.webhooks.retrying import Outcome
from services.context.webhooks.sending import Sender
from shared.addresses import Reach, networks
from tests.support.fakes.receiver import Canary, Receiver, refuse

HTTP = Reach(http=True)
LOCAL = Reach(networks(["127.0.0.0/8"]), http=True)
REDIRECTS = (301, 302, 303, 307, 308)
# What a name may lead to; the canary listens on those that this machine has.
LED_TO = [
    *("127.0.0.1", "127.1.2.3", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.0.1", "169.254.169.254"),
    *("100.64.0.1", "168.63.129.16", "224.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1", "240.0.0.1"),
    *("::1", "::", "::ffff:127.0.0.1", "::ffff:0:0", "::127.0.0.1", "64:ff9b::7f00:1", "fe80::1", "fc00::1"),
    *("ff02::1", "2002:7f00:1::", "2001:db8::1", "fd00:ec2::254"),
]
LITERAL = [
    *("127.0.0.1", "127.1", "2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "0", "0.0.0.0"),
    *("[::1]", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[64:ff9b::7f00:1]", "[2002:7f00:1::]"),
    *("localhost", "localhost.", "a.localhost", "user@127.0.0.1", "example.com@127.0.0.1", "①②⑦.0.0.1"),
]


def own_addresses() -> list[str]:
    """This machine's private addresses, as its name leads to them."""
    found = {str(info[4][0]).partition("%")[0] for info in socket.getaddrinfo(socket.gethostname(), None)}
    return sorted(address for address in found if ipaddress.ip_address(address).is_private)


@contextmanager
def names_lead_to(*addresses: str, port: int) -> Iterator[None]:
    """Every name leads to these, one after the other, and to the last one then."""
    left = list(addresses)

    def lookup(*_: Any, **__: Any) -> list[Any]:
        address = left.pop(0) if len(left) > 1 else left[0]
        if ":" in address:
            return [(socket.AF_INET6, socket.SOCK_STREAM, 6, "", (address, port, 0, 0))]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))]

    with patch.object(socket, "getaddrinfo", lookup):
        yield


async def sent(reach: Reach, url: str) -> Outcome:
    sender = Sender(reach)
    try:
        return await sender.send("t", url, signing.test_message(datetime.now(UTC)), [b"secret"])
    finally:
        await sender.close()


async def calls_inside() -> tuple[int, int]:
    """Tries them all. Returns the connections that the canary counted, and how many addresses were tried."""
    tried = [*LED_TO, *own_addresses()]
    async with Canary() as canary:
        for address in tried:
            with names_lead_to(address, port=canary.port):
                await sent(HTTP, f"http://hooks.example.com:{canary.port}/")
        for host in LITERAL:
            await sent(HTTP, f"http://{host}:{canary.port}/")
        for status in REDIRECTS:
            answering = refuse(status, Location=f"http://127.0.0.1:{canary.port}/")
            async with Receiver(answering=answering) as receiver:
                await sent(LOCAL, receiver.url)
        count = canary.connections
        assert (await sent(LOCAL, f"http://127.0.0.1:{canary.port}/")).error == "broken_off"
        # Unless the canary hears what may reach it, it proves nothing.
        assert canary.connections == count + 1
    return count, len(tried) + len(LITERAL) + len(REDIRECTS)
