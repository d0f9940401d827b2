"""HTTP of weights, budgets and the eval cycle."""

from __future__ import annotations

from litestar import delete, get, post, put
from litestar.di import NamedDependency
from litestar.params import FromQuery, JSONBody
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
from services.context.log.routes import CallerName, Limit, OptionalName
from services.context.log.service import Operators
from services.context.schemas import SourceStore
from shared.deadline import Deadline
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.operations import ADMIN, READ, takes

_EVAL_SECONDS = 60.0


@get("/weights", opt=READ)
async def weights(
    operators: NamedDependency[Operators],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    caller: OptionalName = None,
) -> SourceWeights:
    """The weights that differ from the start values: learned, or set by an operator."""
    return SourceWeights(await operators.weights(principal, caller, deadline), dict(stores.WEIGHTS))


@get("/weights/history", opt=READ)
async def weight_history(
    operators: NamedDependency[Operators],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    caller: OptionalName = None,
    limit: Limit = 100,
) -> WeightHistory:
    """What evaluations and operators changed, newest first."""
    return WeightHistory(await operators.history(principal, caller, limit, deadline))


@put("/weights", opt=ADMIN)
async def set_weight(
    operators: NamedDependency[Operators],
    context_service: NamedDependency[ContextService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    data: JSONBody[WeightInput],
) -> SourceWeight:
    """A source's weight for a caller, or for all with caller `*`."""
    row = await operators.set_weight(principal, data, deadline)
    context_service.forget_config(principal.tenant)
    return row


@delete("/weights", opt=ADMIN)
async def reset_weight(
    operators: NamedDependency[Operators],
    context_service: NamedDependency[ContextService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    caller: CallerName,
    source: FromQuery[SourceStore],
) -> None:
    """Back to the tenant's `*` row, else to the start value."""
    await operators.reset_weight(principal, caller, source, deadline)
    context_service.forget_config(principal.tenant)


@get("/budgets", opt=READ)
async def budgets(
    operators: NamedDependency[Operators],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    caller: OptionalName = None,
) -> CallerBudgets:
    """Callers' budgets, where they are not the installation's default."""
    return CallerBudgets(await operators.budgets(principal, caller, deadline))


@put("/budgets", opt=ADMIN)
async def set_budget(
    operators: NamedDependency[Operators],
    context_service: NamedDependency[ContextService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    data: JSONBody[BudgetInput],
) -> CallerBudget:
    """A caller's default budget, its bounds for learning, and the ceiling that no request exceeds."""
    row = await operators.set_budget(principal, data, deadline)
    context_service.forget_config(principal.tenant)
    return row


@delete("/budgets", opt=ADMIN)
async def reset_budget(
    operators: NamedDependency[Operators],
    context_service: NamedDependency[ContextService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    caller: CallerName,
) -> None:
    """Back to the installation's default."""
    await operators.reset_budget(principal, caller, deadline)
    context_service.forget_config(principal.tenant)


@post("/eval", opt=ADMIN | takes(_EVAL_SECONDS), status_code=200)
async def evaluate(
    evaluation: NamedDependency[Evaluation],
    context_service: NamedDependency[ContextService],
    principal: PrincipalDep,
) -> Evaluated:
    """Learn from the feedback that no cycle has looked at. Two at once do the work once."""
    principal.require_every_agent()
    result = await evaluation.run(principal.tenant, Deadline(_EVAL_SECONDS))
    context_service.forget_config(principal.tenant)
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
