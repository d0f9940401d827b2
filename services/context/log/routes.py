"""HTTP for operators and for agents that close the loop: explain, replay, sources, weights, budgets, eval."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Request, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, Parameter
from litestar.types import ControllerRouterHandler

from services.context.log.schemas import Callers, Explained, LogEntries, Replay, ReplayInput, SourceItem
from services.context.log.service import Operators
from services.context.log.signals import Signals
from shared.web.app import request_id_of
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.operations import READ, problems

_ID = Parameter(ge=1, le=2**63 - 1)
_NAME = Parameter(min_length=1, max_length=200)
AssemblyId = Annotated[int, _ID]
CallerName = Annotated[str, _NAME]
OptionalName = Annotated[str | None, _NAME]
Limit = Annotated[int, Parameter(ge=1, le=500)]
Offset = Annotated[int, Parameter(ge=0, le=1_000_000, description="How many to pass over.")]


@get("/log", opt=READ)
async def log(
    operators: NamedDependency[Operators],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    caller: OptionalName = None,
    mission_namespace: OptionalName = None,
    limit: Limit = 50,
    offset: Offset = 0,
) -> LogEntries:
    """Assemblies, newest first."""
    return LogEntries(
        await operators.assemblies(principal, caller, mission_namespace, limit, offset, deadline)
    )


@get("/log/callers", opt=READ)
async def log_callers(
    operators: NamedDependency[Operators], principal: PrincipalDep, deadline: DeadlineDep
) -> Callers:
    """Everyone who has assembled."""
    return Callers(await operators.callers(principal, deadline))


@get("/log/{assembly_id:int}", opt=READ | problems(404))
async def explain(
    operators: NamedDependency[Operators],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    assembly_id: AssemblyId,
) -> Explained:
    """Why an agent saw what it saw: every candidate, taken or dropped, with its factors and the reason."""
    return await operators.explain(principal, assembly_id, deadline)


@post("/log/{assembly_id:int}/replay", opt=READ | problems(404), status_code=200)
async def replay(
    operators: NamedDependency[Operators],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    assembly_id: AssemblyId,
    data: JSONBody[ReplayInput],
) -> Replay:
    """What the same candidates would have made under other weights, shares or another budget."""
    return await operators.replay(principal, assembly_id, data, deadline)


@get("/sources/{handle:path}", opt=READ | problems(404))
async def source(
    request: Request[Any, Any, Any],
    operators: NamedDependency[Operators],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    signals: NamedDependency[Signals],
    handle: FromPath[str],
    assembly_id: Annotated[int | None, _ID] = None,
) -> SourceItem:
    """The whole item behind a handle of a block. With `assembly_id`, reading it counts as weak feedback."""
    handle = handle.removeprefix("/")
    item = await operators.source(principal, handle, deadline, request_id_of(request.scope))
    if assembly_id is not None:
        signals.read(principal, assembly_id, handle)
    return item


HANDLERS: list[ControllerRouterHandler] = [log, log_callers, explain, replay, source]
