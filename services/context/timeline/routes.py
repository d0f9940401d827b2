"""HTTP of the timeline: pages, streams, monitor."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Request, Response, get
from litestar.di import NamedDependency
from litestar.params import HeaderParameter, Parameter
from litestar.response import Stream

from services.context.keys import Keys
from services.context.timeline.monitor import Monitored, agents
from services.context.timeline.schemas import Event, Events
from services.context.timeline.service import Filter, Timeline
from shared.errors import Invalid
from shared.web.dependencies import DeadlineDep, DrainDep, PrincipalDep
from shared.web.operations import READ, answers, problems

_AFTER = Parameter(ge=0, le=2**63 - 1, description="The last number of the page before.")
_LAST_EVENT_ID = HeaderParameter(
    name="Last-Event-ID", ge=0, le=2**63 - 1, description="Where a stream broke off: its last `id`."
)


@get(
    "/api/timeline",
    opt=READ | problems(403) | answers(json=Events, events=Event),
    tags=["timeline"],
)
async def timeline(
    request: Request[Any, Any, Any],
    timeline_service: NamedDependency[Timeline],
    keys: NamedDependency[Keys],
    drain: DrainDep,
    principal: PrincipalDep,
    deadline: DeadlineDep,
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
    for name, value in (("mission", mission), ("kind", kind)):
        if value is not None and "\x00" in value:
            raise Invalid.field(name, "must not contain U+0000")
    wanted = Filter(mission, kind, dispatch_id)
    if "text/event-stream" not in request.headers.get("accept", ""):
        start = after or 0
        page = await timeline_service.page(principal, wanted, start, limit, deadline)
        return Response(Events(page, page[-1].seq if page else start))
    if wanted.mission is not None:
        principal.require_mission(wanted.mission)
    begin = last_event_id if last_event_id is not None else after
    if begin is None:
        begin = await timeline_service.last(principal, deadline)
    stream = timeline_service.stream(principal, wanted, begin, drain)
    return Stream(
        keys.while_valid(request.headers.get("authorization"), stream),
        media_type="text/event-stream",
        headers={"cache-control": "no-cache", "x-accel-buffering": "no"},
    )


@get("/api/context/monitor", operation_id="monitor", opt=READ | problems(403), tags=["timeline"])
async def monitor(
    timeline_service: NamedDependency[Timeline],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    mission: Annotated[str | None, Parameter(description="In this mission only.")] = None,
    minutes: Annotated[int, Parameter(ge=1, le=1_440, description="How far to look back.")] = 60,
) -> Monitored:
    """What each agent is doing now: its last event, open dispatches, and how much it did lately."""
    if mission is not None and "\x00" in mission:
        raise Invalid.field("mission", "must not contain U+0000")
    return Monitored(await agents(timeline_service.database, principal, mission, minutes, deadline))
