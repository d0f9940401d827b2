"""A small app behind the door of a service, on a port of its own."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Awaitable, Callable

import uvicorn
from litestar import Request, Response, get, post
from uvicorn.server import ServerState

from local.process import free_port
from shared.concurrency.courtesy import for_all, holding, make_way, make_way_holding
from shared.database.postgres import Database
from shared.telemetry.scraping import Scraping
from shared.web.app import create_app
from shared.web.door.admission import Admission
from shared.web.serving.http_protocol import HttpProtocol
from shared.web.serving.listener import Listener


class Services:
    """An app without services."""


PUBLIC = {"access": "public"}
LARGE = 32 * 2**20
"""More than sockets hold."""


@post("/count", opt=PUBLIC, status_code=200)
async def count(request: Request[object, object, object]) -> dict[str, int]:  # type: ignore[type-var]
    return {"bytes": len(await request.body())}


@get("/large", opt=PUBLIC)
async def large() -> Response[bytes]:
    return Response(bytes(LARGE), media_type="application/octet-stream")


class Held:
    """What requests to `/wait` wait for: `working` is set while one of them does, `go_on` lets it go."""

    def __init__(self) -> None:
        self.working, self.go_on = asyncio.Event(), asyncio.Event()

    def begin(self) -> None:
        self.working.clear()
        self.go_on.clear()


held = Held()


@get("/wait", opt=PUBLIC)
async def wait() -> str:
    held.working.set()
    await held.go_on.wait()
    return "waited"


async def _way(make: Callable[[], Awaitable[None]] = make_way) -> float:
    """How long a step made way for others, in seconds."""
    begun = time.monotonic()
    await make()
    return time.monotonic() - begun


@get("/steps", opt=PUBLIC)
async def steps() -> list[float]:
    """Has two steps at once, and then one that is for all."""
    ways = await asyncio.gather(_way(), _way())
    with for_all():
        return [*ways, await _way()]


@get("/transaction", opt=PUBLIC)
async def transaction() -> list[float]:
    """Has a step of a transaction as any other, one between its parts, and one of these that is for all."""
    with holding():
        ways = [await _way(), await _way(make_way_holding)]
        with for_all():
            return [*ways, await _way(make_way_holding)]


OPEN = Scraping()


def make(in_flight: int, scraping: Scraping = OPEN) -> Admission:
    """The header `tenant` names the tenant."""

    @contextlib.asynccontextmanager
    async def opened() -> AsyncIterator[Services]:
        yield Services()

    async def nobody(_: object) -> None:
        raise AssertionError

    return create_app(
        routes=[count, large, wait, steps, transaction],
        services=Services,
        opened=opened,
        authenticate=nobody,  # type: ignore[arg-type]
        tenant_of=lambda headers: headers.get(b"tenant", b"").decode(),
        database=Database("postgresql://"),
        in_flight=in_flight,
        scraping=scraping,
    )


@contextlib.asynccontextmanager
async def serving(app: Admission) -> AsyncIterator[int]:
    config = uvicorn.Config(app, http=HttpProtocol, lifespan="off", log_config=None, access_log=False)
    config.load()
    state, port = ServerState(), free_port()

    def protocol() -> HttpProtocol:
        made = HttpProtocol(config, state, {})
        made.turn_away = app.turn_away
        made.head_too_large = app.head_too_large
        return made

    listener = Listener("127.0.0.1", port, protocol)
    held.begin()
    yield port
    listener.close()
    await listener.wait_closed()
    for one in [*state.connections]:
        one.transport.abort()


@contextlib.asynccontextmanager
async def opened(port: int, sent: bytes) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(sent)
    yield reader, writer
    writer.close()


def head(length: str) -> bytes:
    return f"POST /count HTTP/1.1\r\nhost: x\r\n{length}\r\n\r\n".encode()


async def read(reader: asyncio.StreamReader) -> tuple[int, dict[str, str], bytes]:
    start, *lines = (await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), 20)).decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines if line)
    return int(start.split()[1]), headers, await reader.readexactly(int(headers["content-length"]))
