"""HTTP of weights, budgets and the eval cycle."""

from __future__ import annotations

from litestar import delete, get, post, put
from litestar.di import NamedDependency
from litestar.params import FromQuery, JSONBody
from litestar.types import ControllerRouterHandler

from services.context import stores
from services.context.assembly.config import CallerConfigs
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
from services.context.learning.service import Learning
from services.context.log.routes import CallerName, OptionalName
from services.context.schemas import SourceStore
from shared.deadline import Deadline
from shared.paging.parameters import DEFAULT_LIMIT, CursorText, Limit, Since
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.operations import ADMIN, READ, takes

_EVAL_SECONDS = 60.0


@get("/weights", opt=READ)
async def weights(
    learning_service: NamedDependency[Learning],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    caller: OptionalName = None,
) -> SourceWeights:
    """List the weights that differ from the start values, learned or set by an operator."""
    return SourceWeights(await learning_service.weights(principal, caller, deadline), dict(stores.WEIGHTS))


@get("/weights/history", opt=READ)
async def weight_history(
    learning_service: NamedDependency[Learning],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    caller: OptionalName = None,
    since: Since = None,
    cursor: CursorText = None,
    limit: Limit = DEFAULT_LIMIT,
) -> WeightHistory:
    """List the changes that evaluations and operators made, newest first."""
    return await learning_service.history(principal, caller, since, cursor, limit, deadline)


@put("/weights", opt=ADMIN)
async def set_weight(
    learning_service: NamedDependency[Learning],
    caller_configs: NamedDependency[CallerConfigs],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    data: JSONBody[WeightInput],
) -> SourceWeight:
    """Set a source's weight for a caller, or for all callers with `*`."""
    row = await learning_service.set_weight(principal, data, deadline)
    caller_configs.forget(principal.tenant)
    return row


@delete("/weights", opt=ADMIN)
async def reset_weight(
    learning_service: NamedDependency[Learning],
    caller_configs: NamedDependency[CallerConfigs],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    caller: CallerName,
    source: FromQuery[SourceStore],
) -> None:
    """Return a source's weight to the tenant's `*` row, or else to the start value."""
    await learning_service.reset_weight(principal, caller, source, deadline)
    caller_configs.forget(principal.tenant)


@get("/budgets", opt=READ)
async def budgets(
    learning_service: NamedDependency[Learning],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    caller: OptionalName = None,
) -> CallerBudgets:
    """List the callers' budgets that differ from the installation's default."""
    return CallerBudgets(await learning_service.budgets(principal, caller, deadline))


@put("/budgets", opt=ADMIN)
async def set_budget(
    learning_service: NamedDependency[Learning],
    caller_configs: NamedDependency[CallerConfigs],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    data: JSONBody[BudgetInput],
) -> CallerBudget:
    """Set a caller's default budget, its bounds for learning, and the ceiling for its requests."""
    row = await learning_service.set_budget(principal, data, deadline)
    caller_configs.forget(principal.tenant)
    return row


@delete("/budgets", opt=ADMIN)
async def reset_budget(
    learning_service: NamedDependency[Learning],
    caller_configs: NamedDependency[CallerConfigs],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    caller: CallerName,
) -> None:
    """Return a caller's budget to the installation's default."""
    await learning_service.reset_budget(principal, caller, deadline)
    caller_configs.forget(principal.tenant)


@post("/eval", opt=ADMIN | takes(_EVAL_SECONDS), status_code=200)
async def evaluate(
    evaluation: NamedDependency[Evaluation],
    caller_configs: NamedDependency[CallerConfigs],
    principal: PrincipalDep,
) -> Evaluated:
    """Learn from new feedback. Two concurrent calls process it once."""
    principal.require_every_agent()
    principal.require_every_mission()
    principal.require_every_user()
    result = await evaluation.asked(principal, Deadline(_EVAL_SECONDS))
    caller_configs.forget(principal.tenant)
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
