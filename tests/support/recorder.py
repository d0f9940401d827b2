"""A proxy in front of an owner that keeps the headers it was called with, and can hang."""

import asyncio
from collections.abc import Mapping
from typing import Self

import aiohttp
from aiohttp import web

from local.process import free_port

_DROPPED = {"connection", "keep-alive", "transfer-encoding", "content-length"}


class Recorder:
    def __init__(self, target: str) -> None:
        self.calls: list[tuple[str, Mapping[str, str]]] = []
        """Path and headers."""
        self._target = target
        self._port = free_port()
        self._passing = asyncio.Event()
        self._passing.set()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    @property
    def headers(self) -> Mapping[str, str]:
        """Of the last call."""
        return self.calls[-1][1]

    def headers_of(self, path: str) -> Mapping[str, str]:
        """Of the last call of a path. What a service does in the background calls others."""
        return next(headers for called, headers in reversed(self.calls) if called == path)

    def hang(self) -> None:
        """Accept calls and answer none until `go_on`."""
        self._passing.clear()

    def go_on(self) -> None:
        self._passing.set()

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(auto_decompress=False)
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._pass_on)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self._port).start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self.go_on()
        await self._runner.cleanup()
        await self._session.close()

    async def _pass_on(self, request: web.Request) -> web.Response:
        self.calls.append((request.path, request.headers))
        body = await request.read()
        await self._passing.wait()
        headers = {k: v for k, v in request.headers.items() if k.lower() not in _DROPPED}
        async with self._session.request(
            request.method, self._target + request.raw_path, headers=headers, data=body or None
        ) as answer:
            kept = {k: v for k, v in answer.headers.items() if k.lower() not in _DROPPED}
            return web.Response(status=answer.status, headers=kept, body=await answer.read())
