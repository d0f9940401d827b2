"""HTTP of what waits."""

from __future__ import annotations

from typing import Any

from litestar import Request, get
from litestar.di import NamedDependency

from services.context.backlog.schemas import TenantBacklog
from services.context.backlog.service import TenantBacklogs
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.operations import READ, problems
from shared.web.request import request_id_of


@get("/backlog", operation_id="context_backlog", opt=READ | problems(403))
async def backlog(
    request: Request[Any, Any, Any],
    backlogs: NamedDependency[TenantBacklogs],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> TenantBacklog:
    """Tell what of the tenant waits for its vectors, by store, and until when.

    What waits is found by its words already. A key that is bound to an agent, missions or users is refused.
    """
    return await backlogs.waiting(principal, deadline, request_id_of(request.scope))
