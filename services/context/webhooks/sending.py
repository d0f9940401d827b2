"""Sends one message to one URL, and only to an address that webhooks may reach."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import ssl
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from typing import Any

import aiohttp
from aiohttp.abc import AbstractResolver, ResolveResult
from yarl import URL

from services.context.webhooks import signing
from services.context.webhooks.retrying import Outcome, retry_after
from services.context.webhooks.signing import Message
from shared.addresses import Reach, allowed, url_problem
from shared.settings import KEPT_SECONDS
from shared.version import VERSION

SECONDS = 10.0
MOST_BYTES = 64 * 1024
_LOOKUPS = 32


class ForbiddenAddress(OSError):
    """The name leads to an address that webhooks may not reach."""


class _Resolver(AbstractResolver):
    """Looks names up in threads of its own: slow name servers of some receivers hold up nothing else."""

    def __init__(self) -> None:
        self._threads = ThreadPoolExecutor(_LOOKUPS, thread_name_prefix="webhook-lookup")

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        found = await asyncio.get_running_loop().run_in_executor(
            self._threads, lambda: socket.getaddrinfo(host, port, family, socket.SOCK_STREAM)
        )
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

    async def send(self, url: str, sent: Message, keys: Sequence[bytes]) -> Outcome:
        """Never raises for what the receiver does."""
        # The installation may have become stricter since the URL was set.
        if url_problem(url, self._reach) is not None:
            return Outcome(error="forbidden_address")
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
            headers=signing.headers(sent, keys, time.time()),
            allow_redirects=False,
        ) as answer:
            if not await _read(answer.content):
                answer.close()
                return Outcome(http_status=answer.status, error="answer_too_large")
            if 200 <= answer.status < 300:
                return Outcome(http_status=answer.status)
            after = retry_after(answer.headers.get("Retry-After"), datetime.now(UTC))
            return Outcome(http_status=answer.status, error="http_status", retry_after=after)


async def _read(content: aiohttp.StreamReader) -> bool:
    """Reads the answer to its end, so that the connection can be used again. False when it is too long."""
    left = MOST_BYTES
    while piece := await content.readany():
        left -= len(piece)
        if left < 0:
            return False
    return True
