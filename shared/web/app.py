"""A service's HTTP app: its routes, their dependencies, the probes and problems, behind admission."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator, Callable, Sequence
from typing import TypeVar

from litestar import Litestar
from litestar.datastructures import State
from litestar.plugins import PluginProtocol
from litestar.plugins.core import MsgspecDIPlugin
from litestar.types import BeforeMessageSendHookHandler, ControllerRouterHandler

from shared.body import MAX_BODY
from shared.concurrency import garbage
from shared.concurrency.tasks import background
from shared.database.postgres import Database
from shared.telemetry.scraping import Scraping
from shared.web.authentication import Authenticate, Screen, authorize
from shared.web.dependencies import Running, provide
from shared.web.door.admission import Admission, Apart, TenantOf
from shared.web.door.fairness import FRONT, Pile
from shared.web.drain import Drain
from shared.web.probes import livez, metrics_page, readiness
from shared.web.problems import EXCEPTION_HANDLERS
from shared.web.strict_body import StrictBody

S = TypeVar("S")
Opened = Callable[[], contextlib.AbstractAsyncContextManager[S]]


class _Litestar(Litestar):
    """Without pydantic, 8 MB that Litestar loads wherever it is installed: handlers take msgspec's structs."""

    @staticmethod
    def _get_default_plugins(plugins: list[PluginProtocol]) -> list[PluginProtocol]:
        return [*plugins, MsgspecDIPlugin()]


def create_app(
    *,
    routes: Sequence[ControllerRouterHandler],
    services: type[S],
    opened: Opened[S],
    authenticate: Authenticate,
    tenant_of: TenantOf,
    database: Database,
    in_flight: int,
    scraping: Scraping,
    pile: Pile = FRONT,
    screen: Screen | None = None,
    before_send: Sequence[BeforeMessageSendHookHandler] = (),
    apart: Apart | None = None,
) -> Admission:
    """`opened` opens the services when the app starts and closes them when it stops.

    A handler asks for services by type (`shared.web.dependencies`). Its `opt={"access": ...}` says which access its
    caller needs: "read", "write", "admin" or "public". By default only an admin may call it. `screen` sees each body
    before a handler decodes it. `apart` answers its own paths.
    """
    drain = Drain()
    running = Running(drain)
    provide(routes, services)
    app = _Litestar(
        route_handlers=[*routes, livez, readiness(database, drain), metrics_page(scraping)],
        exception_handlers=EXCEPTION_HANDLERS,
        before_request=authorize(authenticate, screen),
        before_send=before_send,
        dto=StrictBody,
        return_dto=None,
        lifespan=[_lifespan(opened, running)],
        # The context service serves one document for all of them.
        openapi_config=None,
        request_max_body_size=MAX_BODY,
        logging_config=None,
        state=State({"running": running}, deep_copy=False),
    )
    return Admission(app, drain, in_flight=in_flight, tenant_of=tenant_of, pile=pile, apart=apart)


def _lifespan(
    opened: Opened[S], running: Running
) -> Callable[[Litestar], contextlib.AbstractAsyncContextManager[None]]:
    @contextlib.asynccontextmanager
    async def lifespan(_: Litestar) -> AsyncIterator[None]:
        async with opened() as services:
            running.add(services)
            garbage.start()
            async with background(garbage.look_forever):
                yield

    return lifespan
