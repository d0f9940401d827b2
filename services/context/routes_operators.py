"""HTTP for operators and for agents that close the loop: explain, replay, sources, weights, budgets, eval."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Request, delete, get, post, put
from litestar.datastructures import State
from litestar.params import Parameter
from litestar.types import ControllerRouterHandler

from services.context.assembly.ranking import DEFAULT_WEIGHTS
from services.context.evaluation import Evaluation
from services.context.operators import Operators
from services.context.schemas import (
    BudgetInput,
    CallerBudget,
    CallerBudgets,
    Callers,
    Evaluated,
    Explained,
    LogEntries,
    Replay,
    ReplayInput,
    SourceItem,
    SourceStore,
    SourceWeight,
    SourceWeights,
    WeightHistory,
    WeightInput,
)
from services.context.service import ContextService
from services.context.signals import Signals
from shared.auth import Principal
from shared.deadline import Deadline
from shared.http import request_id_of
from shared.operations import problems, takes

READ = {"access": "read"}
ADMIN = {"access": "admin"}

AssemblyId = Annotated[int, Parameter(ge=1, le=2**63 - 1)]
CallerName = Annotated[str, Parameter(min_length=1, max_length=200)]
Limit = Annotated[int, Parameter(ge=1, le=500)]
Offset = Annotated[int, Parameter(ge=0, le=1_000_000, description="How many to pass over.")]
_EVAL_SECONDS = 60.0


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


@get("/weights", opt=READ)
async def weights(
    state: State, principal: Principal, deadline: Deadline, caller: CallerName | None = None
) -> SourceWeights:
    """The weights that differ from the start values: learned, or set by an operator."""
    return SourceWeights(await _operators(state).weights(principal, caller, deadline), dict(DEFAULT_WEIGHTS))


@get("/weights/history", opt=READ)
async def weight_history(
    state: State,
    principal: Principal,
    deadline: Deadline,
    caller: CallerName | None = None,
    limit: Limit = 100,
) -> WeightHistory:
    """What evaluations and operators changed, newest first."""
    return WeightHistory(await _operators(state).history(principal, caller, limit, deadline))


@put("/weights", opt=ADMIN)
async def set_weight(
    state: State, service: ContextService, principal: Principal, deadline: Deadline, data: WeightInput
) -> SourceWeight:
    """A source's weight for a caller, or for all with caller `*`."""
    row = await _operators(state).set_weight(principal, data, deadline)
    service.forget_config(principal.tenant)
    return row


@delete("/weights", opt=ADMIN)
async def reset_weight(
    state: State,
    service: ContextService,
    principal: Principal,
    deadline: Deadline,
    caller: CallerName,
    source: SourceStore,
) -> None:
    """Back to the tenant's `*` row, else to the start value."""
    await _operators(state).reset_weight(principal, caller, source, deadline)
    service.forget_config(principal.tenant)


@get("/budgets", opt=READ)
async def budgets(
    state: State, principal: Principal, deadline: Deadline, caller: CallerName | None = None
) -> CallerBudgets:
    """Callers' budgets, where they are not the installation's default."""
    return CallerBudgets(await _operators(state).budgets(principal, caller, deadline))


@put("/budgets", opt=ADMIN)
async def set_budget(
    state: State, service: ContextService, principal: Principal, deadline: Deadline, data: BudgetInput
) -> CallerBudget:
    """A caller's default budget, its bounds for learning, and the ceiling that no request exceeds."""
    row = await _operators(state).set_budget(principal, data, deadline)
    service.forget_config(principal.tenant)
    return row


@delete("/budgets", opt=ADMIN)
async def reset_budget(
    state: State, service: ContextService, principal: Principal, deadline: Deadline, caller: CallerName
) -> None:
    """Back to the installation's default."""
    await _operators(state).reset_budget(principal, caller, deadline)
    service.forget_config(principal.tenant)


@post("/eval", opt=ADMIN | takes(_EVAL_SECONDS), status_code=200)
async def evaluate(state: State, service: ContextService, principal: Principal) -> Evaluated:
    """Learn from the feedback that no cycle has looked at. Two at once do the work once."""
    principal.require_every_agent()
    evaluation: Evaluation = state.evaluation
    result = await evaluation.run(principal.tenant, Deadline(_EVAL_SECONDS))
    service.forget_config(principal.tenant)
    return result


HANDLERS: list[ControllerRouterHandler] = [
    log,
    log_callers,
    explain,
    replay,
    source,
    weights,
    weight_history,
    set_weight,
    reset_weight,
    budgets,
    set_budget,
    reset_budget,
    evaluate,
]
