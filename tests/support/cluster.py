"""The three services as processes, one or more replicas of each, for tests over HTTP."""

import asyncio
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import cycle
from pathlib import Path
from typing import Any, Self

import aiohttp
from aiohttp import web

from local.database import Database
from local.process import free_ports
from local.services import NAMES, Service, Tokens, variables
from local.warm import WarmService
from shared import deadline

_TRIES = 8
_HOP_BY_HOP = {"connection", "keep-alive", "transfer-encoding", "te", "upgrade", "content-length"}


@dataclass(frozen=True)
class Answer:
    status: int
    body: Any
    headers: Mapping[str, str]


class Client:
    """A caller of one address with one token."""

    def __init__(self, url: str, token: str | None) -> None:
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.session = aiohttp.ClientSession(url, headers=headers)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.session.close()

    async def call(self, method: str, path: str, body: Any = None, **options: Any) -> Answer:
        """Sends JSON and reads JSON; an answer of another type has its text as body."""
        async with self.session.request(method, path, json=body, **options) as response:
            text = await response.text()
            parsed = json.loads(text) if "json" in response.content_type else text
            return Answer(response.status, parsed, response.headers)

    async def get(self, path: str, **options: Any) -> Answer:
        return await self.call("GET", path, **options)

    async def post(self, path: str, body: Any, **options: Any) -> Answer:
        return await self.call("POST", path, body, **options)

    async def delete(self, path: str, **options: Any) -> Answer:
        return await self.call("DELETE", path, **options)


class PatientClient(Client):
    """A caller that asks again when a busy machine answers too late, or finds the service full with few requests.

    A request with a deadline of its own is sent once.
    """

    async def call(self, method: str, path: str, body: Any = None, **options: Any) -> Answer:
        headers = options.get("headers") or {}
        for _ in range(1 if deadline.HEADER in headers else _TRIES):
            answer = await super().call(method, path, body, **options)
            if not _is_of_a_busy_machine(answer):
                break
            await asyncio.sleep(1)
        return answer


def _is_of_a_busy_machine(answer: Answer) -> bool:
    """A key that has used up its limit is told the limit's name."""
    return answer.status == 503 or (answer.status == 429 and "limit" not in answer.body)


class RoundRobin:
    """An HTTP proxy that hands each request to the next replica, past those that accept no connection.

    It has a thread of its own, so that a test which blocks its event loop does not stall the services.
    """

    def __init__(self, port: int, targets: list[str]) -> None:
        self.port = port
        self._targets = targets
        self._turn: Iterator[int] = cycle(range(len(targets)))
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._open(), self._loop).result(10)

    def stop(self) -> None:
        if not self._thread.is_alive():
            return
        asyncio.run_coroutine_threadsafe(self._close(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()

    async def _open(self) -> None:
        self._session = aiohttp.ClientSession(
            auto_decompress=False,
            timeout=aiohttp.ClientTimeout(total=None),
            connector=aiohttp.TCPConnector(limit=0),
        )
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_route("*", "/{path:.*}", self._forward)
        self._runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=1)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", self.port).start()

    async def _close(self) -> None:
        await self._runner.cleanup()
        await self._session.close()

    async def _forward(self, request: web.Request) -> web.StreamResponse:
        body = await request.read()
        first = next(self._turn)  # others take turns meanwhile: go on from our own
        for target in [*self._targets[first:], *self._targets[:first]]:
            try:
                return await self._pass_on(request, body, target)
            except aiohttp.ClientConnectorError:
                continue
            except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
                return web.Response(status=502, text="the replica ended before it answered")
        return web.Response(status=502, text="no replica accepts a connection")

    async def _pass_on(self, request: web.Request, body: bytes, target: str) -> web.StreamResponse:
        headers = [(k, v) for k, v in request.headers.items() if k.lower() not in _HOP_BY_HOP]
        async with self._session.request(
            request.method,
            target + request.raw_path,
            headers=headers,
            data=body or None,
            allow_redirects=False,
        ) as upstream:
            answer = web.StreamResponse(status=upstream.status, reason=upstream.reason)
            for name, value in upstream.headers.items():
                if name.lower() not in _HOP_BY_HOP:
                    answer.headers.add(name, value)
            await answer.prepare(request)
            with suppress(aiohttp.ClientConnectionResetError):  # who asked has gone
                async for chunk in upstream.content.iter_any():
                    await answer.write(chunk)
                await answer.write_eof()
            return answer


class Cluster:
    """`replicas` of each service; with more than one, each service is reached through a round-robin.

    Services see each other, and tests see `url(name)`, through that address. Extra settings are given for
    every service in `settings`, or for one in `settings_of`. Logs are in `folder`.
    """

    def __init__(
        self,
        database: Database,
        redis_url: str,
        folder: Path,
        *,
        replicas: int = 1,
        settings: Mapping[str, str] | None = None,
        settings_of: Mapping[str, Mapping[str, str]] | None = None,
    ) -> None:
        self.tokens = Tokens.make()
        ports = {name: free_ports(replicas) for name in NAMES}
        self._proxies = self._make_proxies(ports) if replicas > 1 else {}
        addresses = {name: self._address(name, ports) for name in NAMES}
        self._addresses = addresses
        self.replicas: dict[str, list[Service]] = {}
        for name in NAMES:
            own = variables(
                name,
                database_url=database.services[name],
                redis_url=redis_url,
                tokens=self.tokens,
                addresses=addresses,
            )
            extra = {**(settings or {}), **(settings_of or {}).get(name, {})}
            self.replicas[name] = [
                WarmService(name, folder / f"{name}-{number}.log", port, {**own, **extra})
                for number, port in enumerate(ports[name])
            ]

    def _make_proxies(self, ports: Mapping[str, list[int]]) -> dict[str, RoundRobin]:
        fronts = free_ports(len(NAMES))
        return {
            name: RoundRobin(front, [f"http://127.0.0.1:{port}" for port in ports[name]])
            for name, front in zip(NAMES, fronts, strict=True)
        }

    def _address(self, name: str, ports: Mapping[str, list[int]]) -> str:
        proxy = self._proxies.get(name)
        return proxy.url if proxy else f"http://127.0.0.1:{ports[name][0]}"

    def url(self, name: str = "context") -> str:
        return self._addresses[name]

    def client(self, token: str | None = "write", name: str = "context") -> Client:
        """`token` is read, write, admin, or a literal one; None calls without."""
        return Client(self.url(name), getattr(self.tokens, token, token) if token else None)

    @property
    def all(self) -> list[Service]:
        return [replica for name in NAMES for replica in self.replicas[name]]

    async def start(self, *services: Service) -> None:
        """Start these replicas (all by default) and wait until they are ready."""
        chosen = services or tuple(self.all)
        if not services:
            for proxy in self._proxies.values():
                proxy.start()
        for service in chosen:
            service.launch()
        await asyncio.gather(*(asyncio.to_thread(service.await_ready) for service in chosen))

    async def stop(self, *services: Service) -> None:
        """SIGTERM to these replicas (all by default, context first), and wait until they have ended."""
        groups = [list(services)] if services else [self.replicas[name] for name in reversed(NAMES)]
        for group in groups:
            await asyncio.gather(*(asyncio.to_thread(service.stop) for service in group))
        if not services:
            for proxy in self._proxies.values():
                proxy.stop()

    async def __aenter__(self) -> Self:
        try:
            await self.start()
        except BaseException:
            await self.__aexit__()
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        for service in self.all:
            service.sigcont()
        await self.stop()
