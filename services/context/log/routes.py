"""HTTP of the assembly log: list, explain, replay, feedback, and the item behind a handle."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Request, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, Parameter
from litestar.types import ControllerRouterHandler

from services.context.log.feedback import Feedback
from services.context.log.queries import LogFilter
from services.context.log.schemas import (
    Callers,
    ContextFeedback,
    Explained,
    FeedbackTaken,
    Given,
    LogEntries,
    Replay,
    ReplayInput,
    SourceItem,
)
from services.context.log.service import AssemblyLog
from services.context.log.signals import Signals
from services.context.log.sources import Sources
from shared.paging.parameters import DEFAULT_LIMIT, CursorText, Limit, Since, Until
from shared.provenance import utc
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.idempotency_key import key_of
from shared.web.operations import KEYED, READ, WRITE, problems
from shared.web.request import request_id_of

_ID = Parameter(ge=1, le=2**63 - 1)
_NAME = Parameter(min_length=1, max_length=200)
AssemblyId = Annotated[int, _ID]
CallerName = Annotated[str, _NAME]
_Handle = Annotated[
    str, Parameter(min_length=1, max_length=1_000, description="The item, as a block or the queue names it.")
]
OptionalName = Annotated[str | None, _NAME]


@get("/log", opt=READ)
async def log(
    assembly_log: NamedDependency[AssemblyLog],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    caller: OptionalName = None,
    mission_namespace: OptionalName = None,
    user_id: OptionalName = None,
    session_id: OptionalName = None,
    since: Since = None,
    until: Until = None,
    cursor: CursorText = None,
    limit: Limit = DEFAULT_LIMIT,
) -> LogEntries:
    """List assemblies, newest first."""
    period = (utc(since, "since"), utc(until, "until"))
    wanted = LogFilter(caller, mission_namespace, user_id, session_id, *period)
    return await assembly_log.assemblies(principal, wanted, cursor, limit, deadline)


@get("/log/given", opt=READ | problems(404))
async def given(
    assembly_log: NamedDependency[AssemblyLog],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    handle: _Handle,
    caller: OptionalName = None,
    mission_namespace: OptionalName = None,
    since: Since = None,
    until: Until = None,
    cursor: CursorText = None,
    limit: Limit = DEFAULT_LIMIT,
) -> Given:
    """List the assemblies that gave an item, newest first: who was given it, in which mission, and when.

    `own:…` and `peer:…` are the same item. A page looks at 20,000 assemblies, so it may be short and name a next one.
    """
    period = (utc(since, "since"), utc(until, "until"))
    wanted = LogFilter(caller, mission_namespace, None, None, *period)
    return await assembly_log.given(principal, handle, wanted, cursor, limit, deadline)


@get("/log/callers", opt=READ)
async def log_callers(
    assembly_log: NamedDependency[AssemblyLog],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    cursor: CursorText = None,
    limit: Limit = DEFAULT_LIMIT,
) -> Callers:
    """List the callers that have assembled, by name."""
    return await assembly_log.callers(principal, cursor, limit, deadline)


@get("/log/{assembly_id:int}", opt=READ | problems(404))
async def explain(
    assembly_log: NamedDependency[AssemblyLog],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    assembly_id: AssemblyId,
) -> Explained:
    """Explain an assembly: every candidate, taken or dropped, with its factors and the reason."""
    return await assembly_log.explain(principal, assembly_id, deadline)


@post("/log/{assembly_id:int}/replay", opt=READ | problems(404), status_code=200)
async def replay(
    assembly_log: NamedDependency[AssemblyLog],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    assembly_id: AssemblyId,
    data: JSONBody[ReplayInput],
) -> Replay:
    """Pack the same candidates again, with other weights, shares or another budget."""
    return await assembly_log.replay(principal, assembly_id, data, deadline)


@get("/sources/{handle:path}", opt=READ | problems(404))
async def source(
    request: Request[Any, Any, Any],
    sources: NamedDependency[Sources],
    assembly_log: NamedDependency[AssemblyLog],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    signals: NamedDependency[Signals],
    handle: FromPath[str],
    assembly_id: Annotated[int | None, _ID] = None,
) -> SourceItem:
    """Read the whole item behind a block's handle. With `assembly_id`, the read counts as weak feedback."""
    handle = handle.removeprefix("/")
    if assembly_id is not None:
        await assembly_log.require(principal, assembly_id, deadline)
    item = await sources.source(principal, handle, deadline, request_id_of(request.scope))
    if assembly_id is not None:
        signals.read(principal, assembly_id, handle)
    return item


@post("/feedback", opt=WRITE | KEYED | problems(404), status_code=200)
async def feedback(
    request: Request[Any, Any, Any],
    data: JSONBody[ContextFeedback],
    feedback_service: NamedDependency[Feedback],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> FeedbackTaken:
    """Report which sources of an assembly were useful. A source that was not in its block is refused by name."""
    return await feedback_service.note(principal, data, await key_of(request), deadline)


HANDLERS: list[ControllerRouterHandler] = [log, log_callers, given, explain, replay, source]
