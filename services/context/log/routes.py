"""HTTP for operators and for agents that close the loop: explain, replay, sources, weights, budgets, eval."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Request, get, post
from litestar.datastructures import State
from litestar.params import Parameter
from litestar.types import ControllerRouterHandler

from services.context.log.schemas import Callers, Explained, LogEntries, Replay, ReplayInput, SourceItem
from services.context.log.service import Operators
from services.context.log.signals import Signals
from shared.auth import Principal
from shared.deadline import Deadline
from shared.web.app import request_id_of
from shared.web.operations import READ, problems

AssemblyId = Annotated[int, Parameter(ge=1, le=2**63 - 1)]
CallerName = Annotated[str, Parameter(min_length=1, max_length=200)]
Limit = Annotated[int, Parameter(ge=1, le=500)]
Offset = Annotated[int, Parameter(ge=0, le=1_000_000, description="How many to pass over.")]


def _operators(state: State) -> Operators:
    operators: Operators = state.operators
    return operators


@get("/log", opt=READ)
async def log(
    state: State,
    principal: Principal,
    deadline: Deadline,
    caller: CallerName | None = None,
    mission_namespace: CallerName | None = None,
    limit: Limit = 50,
    offset: Offset = 0,
) -> LogEntries:
    """Assemblies, newest first."""
    return LogEntries(
        await _operators(state).assemblies(principal, caller, mission_namespace, limit, offset, deadline)
    )


@get("/log/callers", opt=READ)
async def log_callers(state: State, principal: Principal, deadline: Deadline) -> Callers:
    """Everyone who has assembled."""
    return Callers(await _operators(state).callers(principal, deadline))


@get("/log/{assembly_id:int}", opt=READ | problems(404))
async def explain(
    state: State, principal: Principal, deadline: Deadline, assembly_id: AssemblyId
) -> Explained:
    """Why an agent saw what it saw: every candidate, taken or dropped, with its factors and the reason."""
    return await _operators(state).explain(principal, assembly_id, deadline)


@post("/log/{assembly_id:int}/replay", opt=READ | problems(404), status_code=200)
async def replay(
    state: State, principal: Principal, deadline: Deadline, assembly_id: AssemblyId, data: ReplayInput
) -> Replay:
    """What the same candidates would have made under other weights, shares or another budget."""
    return await _operators(state).replay(principal, assembly_id, data, deadline)


@get("/sources/{handle:path}", opt=READ | problems(404))
async def source(
    request: Request[Any, Any, Any],
    state: State,
    principal: Principal,
    deadline: Deadline,
    handle: str,
    assembly_id: AssemblyId | None = None,
) -> SourceItem:
    """The whole item behind a handle of a block. With `assembly_id`, reading it counts as weak feedback."""
    handle = handle.removeprefix("/")
    item = await _operators(state).source(principal, handle, deadline, request_id_of(request.scope))
    if assembly_id is not None:
        signals: Signals = state.signals
        signals.read(principal, assembly_id, handle)
    return item


HANDLERS: list[ControllerRouterHandler] = [log, log_callers, explain, replay, source]
