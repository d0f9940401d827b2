from __future__ import annotations

from typing import Annotated, Any

from litestar import Request, Router, delete, get, post, put
from litestar.di import NamedDependency
from litestar.params import JSONBody, Parameter

from services.context.costs.queries import CostFilter
from services.context.costs.schemas import (
    Allowance,
    By,
    CeilingInput,
    Ceilings,
    CeilingState,
    CostInput,
    CostRows,
    Costs,
    Period,
    RecordedCost,
    Savings,
)
from services.context.costs.service import CostService
from shared.errors import Invalid
from shared.paging.parameters import DEFAULT_LIMIT, CursorText, Limit
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.idempotency_key import key_of
from shared.web.operations import ADMIN, KEYED, READ, WRITE, problems

_Agent = Annotated[
    str | None, Parameter(min_length=1, max_length=200, description="Only this agent's calls.")
]
_Mission = Annotated[
    str | None, Parameter(min_length=1, max_length=200, description="Only this mission's calls.")
]
_Session = Annotated[
    str | None, Parameter(min_length=1, max_length=200, description="Only this session's calls.")
]
_Model = Annotated[
    str | None,
    Parameter(min_length=1, max_length=200, description="Only calls of this model, as rows name it."),
]
_Caller = Annotated[
    str | None, Parameter(min_length=1, max_length=200, description="The agent that would make the call.")
]
_Where = Annotated[
    str | None, Parameter(min_length=1, max_length=200, description="The mission that the call would be for.")
]
_Whose = Annotated[
    str | None, Parameter(min_length=1, max_length=200, description="The mission that the ceiling is for.")
]
_Period = Annotated[Period, Parameter(description="The period of the ceiling.")]
_Days = Annotated[
    int, Parameter(ge=1, le=400, description="Sessions with a request in so many days, in UTC.")
]
_KeyId = Annotated[int | None, Parameter(ge=1, le=2**63 - 1, description="The key that the ceiling is for.")]


@post("/", opt=WRITE | KEYED | problems(403), status_code=201)
async def record_cost(
    request: Request[Any, Any, Any],
    cost_service: NamedDependency[CostService],
    data: JSONBody[CostInput],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> RecordedCost:
    """Record what one call of a model took. Its cost follows from the table of prices, unless the request names one.

    A call that was made is recorded beyond a ceiling, too. Ask `/api/context/costs/allowance` before the next one.
    """
    return await cost_service.record(principal, data, await key_of(request), deadline)


@get("/", opt=READ | problems(403))
async def costs(
    cost_service: NamedDependency[CostService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    by: Annotated[
        By | None, Parameter(description="Groups the costs, too; days are UTC, the earliest first.")
    ] = None,
    agent: _Agent = None,
    mission: _Mission = None,
    session: _Session = None,
    model: _Model = None,
    cursor: CursorText = None,
    limit: Limit = DEFAULT_LIMIT,
) -> Costs:
    """Read what calls of models cost: today, in the last seven days and in all, by agent, mission, session or model.

    It counts callers' own calls, and those of the embedder, the helper model and the reranker that they led to.
    """
    wanted = _filter(agent, mission, session, model)
    return await cost_service.totals(principal, wanted, by, cursor, limit, deadline)


@get("/calls", opt=READ | problems(403))
async def cost_calls(
    cost_service: NamedDependency[CostService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    agent: _Agent = None,
    mission: _Mission = None,
    session: _Session = None,
    model: _Model = None,
    cursor: CursorText = None,
    limit: Limit = DEFAULT_LIMIT,
) -> CostRows:
    """List calls of models with their tokens and costs, the newest first."""
    wanted = _filter(agent, mission, session, model)
    return await cost_service.list(principal, wanted, cursor, limit, deadline)


@get("/savings", opt=READ | problems(403))
async def savings(
    cost_service: NamedDependency[CostService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    agent: _Agent = None,
    mission: _Mission = None,
    model: _Model = None,
    days: _Days = 30,
) -> Savings:
    """Compare sessions that the gateway paged with the random share that it did not, and say how sure that is.

    A session counts as a whole, by what the provider billed for its requests.
    """
    return await cost_service.savings(principal, _filter(agent, mission, None, model), days, deadline)


@get("/allowance", opt=READ | problems(403, 429))
async def allowance(
    cost_service: NamedDependency[CostService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    agent: _Caller = None,
    mission: _Where = None,
) -> Allowance:
    """Ask whether another paid call may be made. At a ceiling the answer is 429, and `limit` names it.

    What is spent is known once a call is recorded: a ceiling is exceeded by no more than the calls under way.
    """
    wanted = _filter(agent, mission)
    return await cost_service.allowance(principal, wanted.agent, wanted.mission, deadline)


@get("/ceilings", opt=ADMIN)
async def ceilings(
    cost_service: NamedDependency[CostService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    cursor: CursorText = None,
    limit: Limit = DEFAULT_LIMIT,
) -> Ceilings:
    """List the tenant's ceilings with what is spent of each."""
    return await cost_service.ceilings(principal, cursor, limit, deadline)


@put("/ceilings", opt=ADMIN | problems(404))
async def set_ceiling(
    cost_service: NamedDependency[CostService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    data: JSONBody[CeilingInput],
) -> CeilingState:
    """Set how much the calls of a key, of a mission or of the whole tenant may cost in a day, a month or in all.

    Beyond it, the embedder and the helper model are not called: answers name them as degraded, and writes go on.
    """
    return await cost_service.set_ceiling(principal, data, deadline)


@delete("/ceilings", opt=ADMIN)
async def reset_ceiling(
    cost_service: NamedDependency[CostService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    key_id: _KeyId = None,
    mission: _Whose = None,
    period: _Period = "day",
) -> None:
    """Remove the ceiling of a key, of a mission, or of the tenant where neither is named."""
    wanted = _filter(None, mission)
    if key_id is not None and wanted.mission is not None:
        raise Invalid.field("mission", "cannot be combined with key_id")
    await cost_service.reset_ceiling(principal, key_id, wanted.mission, period, deadline)


def _filter(
    agent: str | None, mission: str | None, session: str | None = None, model: str | None = None
) -> CostFilter:
    """Raises Invalid for names that Postgres cannot compare with."""
    wanted = CostFilter(agent, mission, session, model)
    for name, value in wanted._asdict().items():
        if value is not None and "\x00" in value:
            raise Invalid.field(name, "must not contain U+0000")
    return wanted


COSTS = Router(
    "/costs",
    route_handlers=[record_cost, costs, cost_calls, savings, allowance, ceilings, set_ceiling, reset_ceiling],
)
