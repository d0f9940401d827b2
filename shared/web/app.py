"""What every service's HTTP side shares: the edge around the app, problems, probes, and serving with drain."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import signal
import socket
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from types import FrameType
from typing import Any, TypeVar

import msgspec
import structlog
import uvicorn
from litestar import Litestar, Request, Response, get
from litestar.datastructures import State
from litestar.enums import MediaType
from litestar.exceptions import HTTPException, ValidationException
from litestar.types import ControllerRouterHandler
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from uvicorn.config import STARTUP_FAILURE

from shared import auth
from shared.auth import Principal
from shared.database.postgres import Database
from shared.deadline import Deadline
from shared.errors import AppError, Invalid, TooLarge, Unauthorized
from shared.telemetry import request_spans
from shared.web.admission import MAX_BODY, Drain, Edge
from shared.web.dependencies import Running, providers
from shared.web.problems import PROBLEM, problem_response
from shared.web.serving.http_protocol import ImpatientConnection
from shared.web.serving.listener import Listener
from shared.web.strict_body import StrictBody

log = structlog.get_logger()

S = TypeVar("S")
Authenticate = Callable[[Request[Any, Any, Any]], Awaitable[Principal]]

_PUBLIC = {"access": "public"}


# Not ready before the schema is there.
_MIGRATED = "select version_num from public.alembic_version"


def inward(service_token: str) -> Authenticate:
    """For the owners: only the context service may call, and it says for whom."""
    accepted = auth.service_tokens(service_token)

    async def authenticate(request: Request[Any, Any, Any]) -> Principal:
        given = auth.bearer(request.headers.get("authorization"))
        if not any(auth.same_secret(given, token) for token in accepted):
            raise Unauthorized("the service token is not valid")
        return auth.from_header(request.headers.get(auth.IDENTITY_HEADER, ""))

    return authenticate


def _on_app_error(_: Request[Any, Any, Any], error: AppError) -> Response[bytes]:
    return problem_response(error)


def _on_http_error(_: Request[Any, Any, Any], error: HTTPException) -> Response[bytes]:
    if isinstance(error, ValidationException):
        return problem_response(_from_validation(error))
    if error.status_code == 413:
        return problem_response(TooLarge(f"a request body may hold {MAX_BODY} bytes"))
    body = {
        "type": "about:blank",
        "title": error.__class__.__name__.removesuffix("Exception"),
        "status": error.status_code,
        "detail": error.detail,
    }
    return Response(
        msgspec.json.encode(body),
        status_code=error.status_code,
        media_type=PROBLEM,
        headers=error.headers,
    )


def _from_validation(error: ValidationException) -> Invalid:
    extra = error.extra if isinstance(error.extra, list) else []
    errors = [
        _field_error(str(item.get("key") or "body"), str(item.get("message", "invalid")))
        for item in extra
        if isinstance(item, dict)
    ]
    return Invalid(
        "; ".join(f"{e['field']}: {e['message']}" for e in errors) or error.detail, errors=errors or None
    )


def _field_error(field: str, message: str) -> dict[str, str]:
    if field == "data":
        return {"field": "body", "message": "is required"}
    return {"field": field, "message": message}


def _on_bug(request: Request[Any, Any, Any], error: Exception) -> Response[bytes]:
    log.error("unhandled error", path=request.scope.get("path_template"), exc_info=error)
    return problem_response(AppError("an internal error; the request id names it in the logs"))


def create_app(
    *,
    routes: Sequence[ControllerRouterHandler],
    services: type[S],
    opened: Callable[[], contextlib.AbstractAsyncContextManager[S]],
    authenticate: Authenticate,
    database: Database,
    in_flight: int,
) -> Edge:
    """An app whose handlers may ask for what `shared.web.dependencies` provides; `opened` is the services' life.

    A handler says what it needs with `opt={"access": "read" | "write" | "admin" | "public"}`; without it, admin.
    """

    drain = Drain()
    running = Running(drain)

    async def admit(request: Request[Any, Any, Any]) -> None:
        """Before the body is read: who may not call learns nothing of what a body should be.

        Not a guard of Litestar's: for each request it copies the handler for them.
        """
        access = request.route_handler.opt.get("access", "admin")
        if access != "public":
            principal = await authenticate(request)
            principal.require(access)
            request.scope["state"]["principal"] = principal

    @get("/livez", opt=_PUBLIC, media_type=MediaType.TEXT, sync_to_thread=False, include_in_schema=False)
    def livez() -> str:
        return "ok"

    @get("/readyz", opt=_PUBLIC, media_type=MediaType.TEXT, include_in_schema=False)
    async def readyz() -> str:
        if drain.started.is_set():
            raise _NotReady("draining")
        await database.run(lambda c: c.fetchval(_MIGRATED), Deadline(1.0))
        return "ok"

    @get(
        "/metrics", opt=_PUBLIC, media_type=CONTENT_TYPE_LATEST, sync_to_thread=False, include_in_schema=False
    )
    def metrics_page() -> bytes:
        return generate_latest()

    @contextlib.asynccontextmanager
    async def whole_life(_: Litestar) -> AsyncIterator[None]:
        async with opened() as opened_services:
            running.add(opened_services)
            # Start-up objects live as long as the process: keep the collector from walking them again.
            gc.collect()
            gc.freeze()
            yield

    app = Litestar(
        route_handlers=[*routes, livez, readyz, metrics_page],
        dependencies=providers(services, running),
        exception_handlers={
            AppError: _on_app_error,
            HTTPException: _on_http_error,
            Exception: _on_bug,
        },
        before_request=admit,
        dto=StrictBody,
        return_dto=None,
        lifespan=[whole_life],
        # The context service serves one document for all of them.
        openapi_config=None,
        request_max_body_size=MAX_BODY,
        logging_config=None,
        state=State({"running": running}, deep_copy=False),
    )
    return Edge(app, drain, pile=in_flight)


class _NotReady(AppError):
    status = 503
    title = "Not ready"


def name_route(scope: Any, route: str) -> None:
    """What the metrics call a route that Litestar has no template for: a mount."""
    scope["state"]["route"] = route


def request_id_of(scope: Any) -> str:
    return str(scope["state"]["request_id"])


_FINISH_SECONDS = 7


class _Server(uvicorn.Server):
    """With a listener of our own, and an end: uvicorn never exits while a stream is open, so streams are told to end as
    soon as a signal arrives. And it ends by the signal that it got; a process that has drained ends with 0.
    """

    def __init__(self, config: uvicorn.Config, app: Edge, linger: float) -> None:
        super().__init__(config)
        self._app = app
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

    def _protocol(self) -> ImpatientConnection:
        connection = ImpatientConnection(self.config, self.server_state, self.lifespan.state)
        connection.turn_away = self._app.turn_away
        return connection

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._app.drain.started.set()
        self.force_exit = self.should_exit and sig == signal.SIGINT
        self.should_exit = True

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        await asyncio.sleep(self._linger)
        await super().shutdown(sockets)


def serve(app: Edge, host: str, port: int, linger: float) -> None:
    """Until a signal; then for `linger` seconds what still comes in is answered too, and connections are closed."""
    config = uvicorn.Config(
        request_spans.traced(app),
        host=host,
        port=port,
        loop="uvloop",
        http=ImpatientConnection,
        lifespan="on",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_graceful_shutdown=_FINISH_SECONDS,
        timeout_keep_alive=75,
    )
    _Server(config, app, linger).run()
