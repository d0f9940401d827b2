"""A receiver of webhooks, as a local HTTP server that verifies each message with the public library."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, Self

from aiohttp import web
from standardwebhooks import Webhook, WebhookVerificationError

Answering = Callable[["Message"], Awaitable[web.Response]]


@dataclass(frozen=True)
class Message:
    id: str
    body: dict[str, Any]

    @property
    def seq(self) -> int:
        seq: int = self.body["data"]["seq"]
        return seq

    @property
    def scope(self) -> str:
        return str(self.body["data"]["scope"])


async def accept(_: Message) -> web.Response:
    return web.Response(status=204)


def refuse(status: int, **headers: str) -> Answering:
    async def answer(_: Message) -> web.Response:
        return web.Response(status=status, headers=headers)

    return answer


@dataclass
class Receiver:
    """`accepted` holds what it answered 2xx, in order. `secrets` are those that it verifies with; none: it does not."""

    secrets: list[str] = field(default_factory=list)
    answering: Answering = accept
    accepted: list[Message] = field(default_factory=list)
    seen: list[Message] = field(default_factory=list)
    unverified: int = 0
    port: int = 0
    _runner: web.AppRunner | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/hook"

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def start(self) -> None:
        """At the same port as before."""
        application = web.Application()
        application.router.add_post("/{path:.*}", self._receive)
        self._runner = web.AppRunner(application, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self.port, reuse_address=True)
        await site.start()
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        if self._runner is not None:
            await self._runner.cleanup()
            self._runner = None

    async def _receive(self, request: web.Request) -> web.Response:
        body = await request.read()
        try:
            for secret in self.secrets:
                Webhook(secret).verify(body, dict(request.headers))
        except WebhookVerificationError:
            self.unverified += 1
            return web.Response(status=401)
        message = Message(request.headers["webhook-id"], json.loads(body))
        self.seen.append(message)
        answer = await self.answering(message)
        if 200 <= answer.status < 300:
            self.accepted.append(message)
        return answer


@dataclass
class Canary:
    """A listener that counts connections, and that nobody is to reach."""

    connections: int = 0
    port: int = 0
    _servers: list[asyncio.Server] = field(default_factory=list)

    async def __aenter__(self) -> Self:
        for host in ("0.0.0.0", "::"):  # all addresses of this machine
            server = await asyncio.start_server(self._count, host, self.port)
            self._servers.append(server)
            self.port = server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        for server in self._servers:
            server.close()

    async def _count(self, _: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        writer.close()
