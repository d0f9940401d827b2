"""HTTP of the context service, the one address that agents know."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Request, Response, Router, get, post
from litestar.datastructures import State
from litestar.params import HeaderParameter, Parameter
from litestar.response import Stream
from litestar.types import ControllerRouterHandler

from services.context import forward, routes_operators
from services.context.document import DOCUMENT
from services.context.keys import Keys
from services.context.keys.routes import KEYS
from services.context.mcp import door
from services.context.monitor import Monitored, agents
from services.context.remember.routes import remember
from services.context.schemas import (
    AssembleContextInput,
    Assembly,
    ContextFeedback,
    Event,
    Events,
    PurgeInput,
    Receipt,
    Success,
)
from services.context.service import ContextService
from services.context.timeline import Filter, Timeline
from shared.auth import Principal
from shared.deadline import Deadline
from shared.errors import Invalid
from shared.http import request_id_of
from shared.idempotency import key_of
from shared.operations import KEYED, answers, problems

READ = {"access": "read"}
WRITE = {"access": "write"}
ADMIN = {"access": "admin"}
_AFTER = Parameter(ge=0, le=2**63 - 1, description="The last number of the page before.")
_LAST_EVENT_ID = HeaderParameter(
    name="Last-Event-ID", ge=0, le=2**63 - 1, description="Where a stream broke off: its last `id`."
)


@post("/assemble", opt=READ | problems(403), status_code=200)
async def assemble(
    request: Request[Any, Any, Any],
    data: AssembleContextInput,
    service: ContextService,
    principal: Principal,
    deadline: Deadline,
) -> Assembly:
    """The context that matters now, from every store, within a token budget, and why each item is in it."""
    return await service.assemble(principal, data, deadline, request_id_of(request.scope))


@post("/feedback", opt=WRITE | KEYED | problems(404), status_code=200)
async def feedback(
    request: Request[Any, Any, Any],
    data: ContextFeedback,
    service: ContextService,
    principal: Principal,
    deadline: Deadline,
) -> Success:
    """Which sources of an assembly were of use."""
    await service.feedback(principal, data, await key_of(request), deadline)
    return Success()


@post("/purge", opt=ADMIN, status_code=200)
async def purge(
    request: Request[Any, Any, Any],
    data: PurgeInput,
    service: ContextService,
    principal: Principal,
    deadline: Deadline,
) -> Receipt:
    """Erase a scope, or all of an agent, a user or a mission, from every table of every service.

    The receipt counts what was erased, table by table.
    """
    return await service.purge(principal, data, deadline, request_id_of(request.scope))


@get(
    "/api/timeline",
    opt=READ | problems(403) | answers(json=Events, events=Event),
    tags=["timeline"],
)
async def timeline(
    request: Request[Any, Any, Any],
    state: State,
    principal: Principal,
    deadline: Deadline,
    after: Annotated[int | None, _AFTER] = None,
    limit: Annotated[int, Parameter(ge=1, le=1_000)] = 200,
    mission: Annotated[str | None, Parameter(description="Of this mission only.")] = None,
    kind: Annotated[str | None, Parameter(description="Of this kind only, such as cache_write.")] = None,
    dispatch_id: Annotated[
        int | None, Parameter(ge=1, le=2**63 - 1, description="Of this dispatch only.")
    ] = None,
    last_event_id: Annotated[int | None, _LAST_EVENT_ID] = None,
) -> Response[Any]:
    """What happened, in order: a page of JSON, or a stream of events with `Accept: text/event-stream`.

    A page begins after event `after`, else with the first there is. A stream begins after `Last-Event-ID`, else after
    `after`, else with what comes next; it does not end by itself, and says that it lives every 15 s.
    """
    events: Timeline = state.timeline
    for name, value in (("mission", mission), ("kind", kind)):
        if value is not None and "\x00" in value:
            raise Invalid.field(name, "must not contain U+0000")
    wanted = Filter(mission, kind, dispatch_id)
    if "text/event-stream" not in request.headers.get("accept", ""):
        start = after or 0
        page = await events.page(principal, wanted, start, limit, deadline)
        return Response(Events(page, page[-1].seq if page else start))
    if wanted.mission is not None:
        principal.require_mission(wanted.mission)
    begin = last_event_id if last_event_id is not None else after
    if begin is None:
        begin = await events.last(principal, deadline)
    keys: Keys = state.api_keys
    stream = events.stream(principal, wanted, begin, state.drain)
    return Stream(
        keys.while_valid(request.headers.get("authorization"), stream),
        media_type="text/event-stream",
        headers={"cache-control": "no-cache", "x-accel-buffering": "no"},
    )


@get("/api/context/monitor", operation_id="monitor", opt=READ | problems(403), tags=["timeline"])
async def monitor(
    state: State,
    principal: Principal,
    deadline: Deadline,
    mission: Annotated[str | None, Parameter(description="In this mission only.")] = None,
    minutes: Annotated[int, Parameter(ge=1, le=1_440, description="How far to look back.")] = 60,
) -> Monitored:
    """What each agent is doing now: its last event, open dispatches, and how much it did lately."""
    if mission is not None and "\x00" in mission:
        raise Invalid.field("mission", "must not contain U+0000")
    return Monitored(await agents(state.timeline.database, principal, mission, minutes, deadline))


ROUTES: list[ControllerRouterHandler] = [
    Router(
        "/api/context",
        route_handlers=[assemble, feedback, remember, purge, *routes_operators.HANDLERS, KEYS],
        tags=["context"],
    ),
    timeline,
    monitor,
    DOCUMENT,
    *door.ROUTES,
    *forward.ROUTES,
]
