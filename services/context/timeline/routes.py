"""HTTP of the timeline: pages, streams, monitor."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from functools import partial
from typing import Annotated, Any

from litestar import Request, Response, get
from litestar.di import NamedDependency
from litestar.params import HeaderParameter, Parameter
from litestar.response import Stream

from services.context.keys import Keys
from services.context.timeline.monitor import Monitored, MonitoredAgent, monitored
from services.context.timeline.schemas import Event, EventCursor, Events, Filter
from services.context.timeline.service import Timeline
from services.context.timeline.watching import watched
from shared.errors import Invalid
from shared.paging.parameters import DEFAULT_LIMIT, CursorText, Limit, Since
from shared.provenance import utc
from shared.web.dependencies import DeadlineDep, DrainDep, PrincipalDep
from shared.web.operations import READ, answers, problems
from shared.web.request import when_ended

_AFTER = Parameter(ge=0, le=2**63 - 1, description="The last number of the previous page.")
_KIND = Parameter(description="Only events of this kind, such as cache_write. Repeat it for several kinds.")
_LAST_EVENT_ID = HeaderParameter(
    name="Last-Event-ID",
    ge=0,
    le=2**63 - 1,
    description="The last `id` that an interrupted stream delivered.",
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
    cursor: CursorText = None,
    limit: Limit = DEFAULT_LIMIT,
    mission: Annotated[str | None, Parameter(description="Only this mission's events.")] = None,
    agent: Annotated[str | None, Parameter(description="Only this agent's events.")] = None,
    kind: Annotated[list[str] | None, _KIND] = None,
    dispatch_id: Annotated[
        int | None, Parameter(ge=1, le=2**63 - 1, description="Only this dispatch's events.")
    ] = None,
    since: Since = None,
    last_event_id: Annotated[int | None, _LAST_EVENT_ID] = None,
) -> Response[Any]:
    """Read events in order: a page of JSON, or a stream with `Accept: text/event-stream`.

    A page begins after `cursor` or event `after`, or else with the first event. A stream begins after `Last-Event-ID`,
    or else after `after`, or else with the next event. It never ends by itself, and sends a keep-alive every 15 s.
    A key and a tenant may open a limited number of streams.
    """
    for name, values in (("mission", [mission]), ("agent", [agent]), ("kind", kind or [])):
        if any("\x00" in value for value in values if value is not None):
            raise Invalid.field(name, "must not contain U+0000")
    wanted = Filter(mission, agent, kind or None, dispatch_id, utc(since, "since"))
    if "text/event-stream" not in request.headers.get("accept", ""):
        start = _start(after, cursor)
        return Response(await timeline_service.page(principal, wanted, start, limit, deadline))
    if wanted.mission is not None:
        principal.require_mission(wanted.mission)
    when_ended(request.scope, timeline_service.streams.open(principal))
    begin = last_event_id if last_event_id is not None else after
    if begin is None:
        begin = await timeline_service.last(principal, deadline)
    return _stream(request, keys, timeline_service.stream(principal, wanted, begin, drain))


def _start(after: int | None, cursor: str | None) -> int:
    """The number that a page begins after. Raises Invalid."""
    position = EventCursor.read(cursor)
    if position is None:
        return after or 0
    if after is not None:
        raise Invalid.field("cursor", "cannot be combined with `after`")
    return position.seq


@get(
    "/api/context/monitor",
    operation_id="monitor",
    opt=READ | problems(403) | answers(json=Monitored, events=MonitoredAgent),
    tags=["timeline"],
)
async def monitor(
    request: Request[Any, Any, Any],
    timeline_service: NamedDependency[Timeline],
    keys: NamedDependency[Keys],
    drain: DrainDep,
    principal: PrincipalDep,
    deadline: DeadlineDep,
    mission: Annotated[str | None, Parameter(description="Only agents in this mission.")] = None,
    minutes: Annotated[int, Parameter(ge=1, le=1_440, description="How many minutes to look back.")] = 60,
    cursor: CursorText = None,
    limit: Limit = DEFAULT_LIMIT,
) -> Response[Any]:
    """Show what each agent is doing now: its last event, its open dispatches, and its recent events by kind.

    With `Accept: text/event-stream`, a stream of agents: as many as `limit`, each as it is now, and again whenever it
    has changed, at most once a second. It never ends by itself, and says something at least every 15 s. A key and a
    tenant may open a limited number of streams.
    """
    if mission is not None and "\x00" in mission:
        raise Invalid.field("mission", "must not contain U+0000")
    look = partial(monitored, timeline_service.database, principal, mission, minutes, cursor, limit)
    if "text/event-stream" not in request.headers.get("accept", ""):
        return Response(await look(deadline))
    if mission is not None:
        principal.require_mission(mission)
    if cursor is not None:
        raise Invalid.field("cursor", "a stream has no pages")
    when_ended(request.scope, timeline_service.streams.open(principal))
    return _stream(request, keys, watched(timeline_service.following, principal.tenant, look, drain))


def _stream(request: Request[Any, Any, Any], keys: Keys, stream: AsyncGenerator[bytes]) -> Stream:
    return Stream(
        keys.while_valid(request.headers.get("authorization"), stream),
        media_type="text/event-stream",
        headers={"cache-control": "no-cache", "x-accel-buffering": "no"},
    )
