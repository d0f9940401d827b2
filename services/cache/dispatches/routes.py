from __future__ import annotations

from typing import Annotated, Any

from litestar import Request, Router, get, post
from litestar.di import NamedDependency
from litestar.params import FromQuery, JSONBody, Parameter

from services.cache.dispatches.schemas import (
    CompletedAnswer,
    CompleteInput,
    DispatchAnswer,
    DispatchesAnswer,
    ProgressInput,
    ReportInput,
    Status,
)
from services.cache.dispatches.service import DispatchService
from shared.paging.parameters import DEFAULT_LIMIT, CursorText, Limit, Since
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.idempotency_key import key_of
from shared.web.operations import KEYED, READ, WRITE, problems

DispatchId = Annotated[int, Parameter(ge=1, le=2**63 - 1)]


@post("/report", opt=WRITE | KEYED, status_code=201)
async def report(
    request: Request[Any, Any, Any],
    data: JSONBody[ReportInput],
    dispatches: NamedDependency[DispatchService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> DispatchAnswer:
    """Report that an agent was given work. Entries that name its id keep it alive."""
    key = await key_of(request)
    return DispatchAnswer(await dispatches.report(principal, data, key, deadline))


@post("/{dispatch_id:int}/progress", opt=WRITE | KEYED | problems(404, 409), status_code=200)
async def progress(
    request: Request[Any, Any, Any],
    dispatch_id: DispatchId,
    data: JSONBody[ProgressInput],
    dispatches: NamedDependency[DispatchService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> DispatchAnswer:
    """Report a dispatch's progress. Even an empty report is a sign of life."""
    key = await key_of(request)
    return DispatchAnswer(await dispatches.progress(principal, dispatch_id, data, key, deadline))


@post("/{dispatch_id:int}/complete", opt=WRITE | KEYED | problems(404, 409), status_code=200)
async def complete(
    request: Request[Any, Any, Any],
    dispatch_id: DispatchId,
    data: JSONBody[CompleteInput],
    dispatches: NamedDependency[DispatchService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> CompletedAnswer:
    """Close a dispatch, even a stale one. `output_missing` says that no output entry was written for it."""
    key = await key_of(request)
    return CompletedAnswer(await dispatches.complete(principal, dispatch_id, data, key, deadline))


@get("/{dispatch_id:int}", operation_id="dispatch_get", opt=READ | problems(404))
async def dispatch(
    dispatch_id: DispatchId,
    dispatches: NamedDependency[DispatchService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> DispatchAnswer:
    """Get a dispatch: its agent, its task and its status."""
    return DispatchAnswer(await dispatches.get(principal, dispatch_id, deadline))


@get("/", operation_id="dispatch_list", opt=READ | problems(403))
async def dispatches(
    dispatches: NamedDependency[DispatchService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    mission_id: FromQuery[str | None] = None,
    agent_name: FromQuery[str | None] = None,
    status: FromQuery[Status | None] = None,
    since: Since = None,
    cursor: CursorText = None,
    limit: Limit = DEFAULT_LIMIT,
) -> DispatchesAnswer:
    """List dispatches, newest first."""
    return await dispatches.list(
        principal,
        deadline,
        mission_id=mission_id,
        agent_name=agent_name,
        status=status,
        since=since,
        cursor=cursor,
        limit=limit,
    )


DISPATCHES = Router(
    "/api/dispatch", route_handlers=[report, progress, complete, dispatch, dispatches], tags=["dispatches"]
)
