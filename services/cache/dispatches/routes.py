from __future__ import annotations

from typing import Annotated, Any

from litestar import Request, Router, get, post
from litestar.params import Parameter

from services.cache.dispatches.schemas import (
    CompletedAnswer,
    CompleteInput,
    DispatchAnswer,
    DispatchesAnswer,
    ProgressInput,
    ReportInput,
    Status,
)
from services.cache.service import CacheService
from shared.auth import Principal
from shared.deadline import Deadline
from shared.idempotency import key_of

READ = {"access": "read"}
WRITE = {"access": "write"}
DispatchId = Annotated[int, Parameter(ge=1, le=2**63 - 1)]


@post("/report", opt=WRITE, status_code=201)
async def report(
    request: Request[Any, Any, Any],
    data: ReportInput,
    service: CacheService,
    principal: Principal,
    deadline: Deadline,
) -> DispatchAnswer:
    """Report work that an agent was given. Entries that name its id keep it alive."""
    key = await key_of(request)
    return DispatchAnswer(await service.dispatches.report(principal, data, key, deadline))


@post("/{dispatch_id:int}/progress", opt=WRITE, status_code=200)
async def progress(
    request: Request[Any, Any, Any],
    dispatch_id: DispatchId,
    data: ProgressInput,
    service: CacheService,
    principal: Principal,
    deadline: Deadline,
) -> DispatchAnswer:
    key = await key_of(request)
    return DispatchAnswer(await service.dispatches.progress(principal, dispatch_id, data, key, deadline))


@post("/{dispatch_id:int}/complete", opt=WRITE, status_code=200)
async def complete(
    request: Request[Any, Any, Any],
    dispatch_id: DispatchId,
    data: CompleteInput,
    service: CacheService,
    principal: Principal,
    deadline: Deadline,
) -> CompletedAnswer:
    """Close it; `output_missing` says that no output entry was written for it. A stale one may still complete."""
    key = await key_of(request)
    return CompletedAnswer(await service.dispatches.complete(principal, dispatch_id, data, key, deadline))


@get("/{dispatch_id:int}", opt=READ)
async def dispatch(
    dispatch_id: DispatchId, service: CacheService, principal: Principal, deadline: Deadline
) -> DispatchAnswer:
    return DispatchAnswer(await service.dispatches.get(principal, dispatch_id, deadline))


@get("/", opt=READ)
async def dispatches(
    service: CacheService,
    principal: Principal,
    deadline: Deadline,
    mission_id: str | None = None,
    agent_name: str | None = None,
    status: Status | None = None,
    before: DispatchId | None = None,
    limit: Annotated[int, Parameter(ge=1, le=500)] = 100,
) -> DispatchesAnswer:
    """Newest first."""
    return await service.dispatches.list(principal, mission_id, agent_name, status, before, limit, deadline)


DISPATCHES = Router(
    "/api/dispatch", route_handlers=[report, progress, complete, dispatch, dispatches], tags=["dispatch"]
)
