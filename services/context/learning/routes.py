"""HTTP of weights, budgets and the eval cycle."""

from __future__ import annotations

from litestar import delete, get, post, put
from litestar.datastructures import State
from litestar.types import ControllerRouterHandler

from services.context import stores
from services.context.assembly.service import ContextService
from services.context.learning.evaluation import Evaluation
from services.context.learning.schemas import (
    BudgetInput,
    CallerBudget,
    CallerBudgets,
    Evaluated,
    SourceWeight,
    SourceWeights,
    WeightHistory,
    WeightInput,
)
from services.context.log.routes import CallerName, Limit, _operators
from services.context.schemas import SourceStore
from shared.auth import Principal
from shared.deadline import Deadline
from shared.web.operations import ADMIN, READ, takes

_EVAL_SECONDS = 60.0


@get("/weights", opt=READ)
async def weights(
    state: State, principal: Principal, deadline: Deadline, caller: CallerName | None = None
) -> SourceWeights:
    """The weights that differ from the start values: learned, or set by an operator."""
    return SourceWeights(await _operators(state).weights(principal, caller, deadline), dict(stores.WEIGHTS))


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
    weights,
    weight_history,
    set_weight,
    reset_weight,
    budgets,
    set_budget,
    reset_budget,
    evaluate,
]
