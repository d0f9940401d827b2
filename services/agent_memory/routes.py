"""Routes that concern every package. The context service forwards `/api`; `/internal` is not public."""

from __future__ import annotations

from typing import Any

from litestar import Request, Router, post
from litestar.di import NamedDependency
from litestar.params import FromQuery, JSONBody
from litestar.types import ControllerRouterHandler

from services.agent_memory.memories.schemas import ForgetAgentInput, ForgetReceipt
from services.agent_memory.purge import Purge
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.idempotency_key import key_of
from shared.web.internal import (
    internal_backlog,
    internal_review,
    internal_review_decide,
    internal_search,
    internal_states,
)
from shared.web.operations import ADMIN, KEYED


@post("/forget", opt=ADMIN | KEYED, status_code=200)
async def forget(
    request: Request[Any, Any, Any],
    data: JSONBody[ForgetAgentInput],
    purge: NamedDependency[Purge],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> ForgetReceipt:
    """Erase everything that an agent committed. Answers the erased rows by table."""
    return await purge.forget(principal, data.agent_name, await key_of(request), deadline)


@post("/internal/purge", opt=ADMIN, status_code=200, include_in_schema=False)
async def purge_scope(
    purged: FromQuery[str],
    purge: NamedDependency[Purge],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    agent: FromQuery[str | None] = None,
    user: FromQuery[str | None] = None,
) -> dict[str, int]:
    return await purge.erase(principal, purged, user, deadline, agent=agent)


@post("/internal/purge/tenant", opt=ADMIN, status_code=200, include_in_schema=False)
async def purge_tenant(
    purge: NamedDependency[Purge], principal: PrincipalDep, deadline: DeadlineDep
) -> dict[str, int]:
    return await purge.erase_tenant(principal, deadline)


ROUTES: list[ControllerRouterHandler] = [
    Router("/api/agent-memory", route_handlers=[forget], tags=["erasure"]),
    internal_search,
    internal_states,
    internal_backlog,
    internal_review,
    internal_review_decide,
    purge_scope,
    purge_tenant,
]
