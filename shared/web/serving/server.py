"""Serves an app with uvicorn until a signal, then drains it."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys
from types import FrameType

import structlog
import uvicorn
from uvicorn.config import STARTUP_FAILURE

from shared.telemetry import request_spans
from shared.version import VERSION
from shared.web.door.admission import Admission
from shared.web.serving.http_protocol import HttpProtocol
from shared.web.serving.listener import Listener

log = structlog.get_logger()

_FINISH_SECONDS = 7
_KEEP_ALIVE_SECONDS = 75
# How long the event loop waits for a thread that computes.
_THREAD_SECONDS = 0.0005


class Server(uvicorn.Server):
    """uvicorn's server with our listener and our shutdown.

    A signal starts the drain at once: uvicorn waits for open streams, and these end only when the drain starts. A
    drained process exits with 0, whereas uvicorn would raise the signal again.
    """

    def __init__(self, config: uvicorn.Config, admission: Admission, linger: float) -> None:
        super().__init__(config)
        self._admission = admission
        self._linger = linger

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=[])
        config = self.config
        try:
            listener = Listener(config.host, config.port, self._protocol)
        except OSError as error:
            log.error("cannot listen", host=config.host, port=config.port, error=str(error))
            await self.lifespan.shutdown()
            sys.exit(STARTUP_FAILURE)
        self.servers = [listener]  # type: ignore[list-item]
        log.info("serving", version=VERSION, host=config.host, port=config.port)

    def _protocol(self) -> HttpProtocol:
        protocol = HttpProtocol(self.config, self.server_state, self.lifespan.state)
        protocol.turn_away = self._admission.turn_away
        protocol.head_too_large = self._admission.head_too_large
        protocol.is_apart = self._admission.is_apart
        return protocol

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._admission.drain.started.set()
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await asyncio.sleep(self._linger)
        await super().shutdown(sockets)


def serve(app: Admission, host: str, port: int, linger: float) -> None:
    """Serves until a signal, answers new requests for another `linger` seconds, then closes connections."""
    sys.setswitchinterval(_THREAD_SECONDS)
    config = uvicorn.Config(
        request_spans.traced(app),
        host=host,
        port=port,
        loop="uvloop",
        http=HttpProtocol,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_FINISH_SECONDS,
        timeout_keep_alive=_KEEP_ALIVE_SECONDS,
    )
    Server(config, app, linger).run()
