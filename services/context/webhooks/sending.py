"""Sends one message to one URL, and only to an address that webhooks may reach."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from contextvars import ContextVar
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from services.context.webhooks import signing
from services.context.webhooks.retrying import Outcome, retry_after
from services.context.webhooks.sharing import Shares
from services.context.webhooks.signing import Message
from shared.addresses import Reach, allowed, url_problem
from shared.concurrency import clock
from shared.settings import KEPT_SECONDS
from shared.version import VERSION

SECONDS = 10.0
MOST_BYTES = 64 * 1024
# Of names, at once: of all tenants and of one. Nobody can end one that takes long.
LOOKUPS, LOOKUPS_OF_TENANT = 128, 32
# Whose name is looked up.
_TENANT: ContextVar[str] = ContextVar("webhook_tenant")


class ForbiddenAddress(OSError):
    """The name leads to an address that webhooks may not reach."""


class _Resolver(AbstractResolver):
    """Looks names up in threads of its own, which tenants share: a slow name server holds up no other tenant."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(LOOKUPS, thread_name_prefix="webhook-lookup")
        self._shares = Shares(LOOKUPS, LOOKUPS_OF_TENANT)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        found = await self._looked_up(_TENANT.get(), host, port, family)
        return [
            ResolveResult(
                hostname=host,
                host=str(address[0]),
                port=int(address[1]),
                family=kind,
                proto=proto,
                flags=socket.AI_NUMERICHOST | socket.AI_NUMERICSERV,
            )
            for kind, _, proto, _, address in found
        ]

    async def _looked_up(self, tenant: str, host: str, port: int, family: socket.AddressFamily) -> list[Any]:
        """Raises OSError when the tenant's other names take too long."""
        if not self._shares.room(tenant):
            raise OSError("too many slow look-ups")
        loop = asyncio.get_running_loop()
        found = self._threads.submit(socket.getaddrinfo, host, port, family, socket.SOCK_STREAM)
        self._shares.take(tenant)

        def ended(_: object) -> None:
            """Called when the thread is free, which may be long after the caller gave up."""
            with suppress(RuntimeError):  # the loop is closed
                loop.call_soon_threadsafe(self._shares.give, tenant)

        found.add_done_callback(ended)
        return await asyncio.wrap_future(found)

    async def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)


class Sender:
    def __init__(self, reach: Reach) -> None:
        self._reach = reach
        # Who sends bounds how many there are. Each new connection looks its name up again.
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0,
                use_dns_cache=False,
                resolver=_Resolver(),
                socket_factory=self._socket,
                keepalive_timeout=KEPT_SECONDS,
            ),
            timeout=aiohttp.ClientTimeout(total=SECONDS),
            cookie_jar=aiohttp.DummyCookieJar(),
            auto_decompress=False,
            trust_env=False,
            headers={"user-agent": f"Scrubjay/{VERSION}", "accept": "*/*", "accept-encoding": "identity"},
        )

    async def close(self) -> None:
        await self._session.close()

    def _socket(self, info: Any) -> socket.socket:
        """Called with each address that is about to be connected to, however it was found."""
        family, kind, proto, _, address = info
        if not allowed(ipaddress.ip_address(str(address[0]).partition("%")[0]), self._reach):
            raise ForbiddenAddress("webhooks do not reach this address")
        return socket.socket(family, kind, proto)

    async def send(self, tenant: str, url: str, sent: Message, keys: Sequence[bytes]) -> Outcome:
        """Never raises for what the receiver does."""
        # The installation may have become stricter since the URL was set.
        if url_problem(url, self._reach) is not None:
            return Outcome(error="forbidden_address")
        _TENANT.set(tenant)
        try:
            async with asyncio.timeout(SECONDS):
                return await self._post(url, sent, keys)
        except TimeoutError:
            return Outcome(error="timeout")
        except aiohttp.ClientConnectorDNSError:
            return Outcome(error="unknown_host")
        except (aiohttp.ClientSSLError, ssl.SSLError):
            return Outcome(error="tls")
        except aiohttp.ClientConnectorError as error:
            forbidden = isinstance(error.os_error, ForbiddenAddress)
            return Outcome(error="forbidden_address" if forbidden else "unreachable")
        except (aiohttp.ClientError, OSError, ValueError):
            return Outcome(error="broken_off")

    async def _post(self, url: str, sent: Message, keys: Sequence[bytes]) -> Outcome:
        async with self._session.post(
            URL(url, encoded=True),
            data=sent.body,
            headers=signing.headers(sent, keys, clock.unix()),
            allow_redirects=False,
        ) as answer:
            if not await _read(answer.content):
                answer.close()
            if 200 <= answer.status < 300:
                return Outcome(http_status=answer.status)
            after = retry_after(answer.headers.get("Retry-After"), clock.now())
            return Outcome(http_status=answer.status, error="http_status", retry_after=after)


async def _read(content: aiohttp.StreamReader) -> bool:
    """Reads the answer to its end, so that the connection can be used again. False when it is too long."""
    left = MOST_BYTES
    while piece := await content.readany():
        left -= len(piece)
        if left < 0:
            return False
    return True
