"""The routes of the agent-memory service. `/api/agent-memory` is public (forwarded by context); `/internal` is not."""

from __future__ import annotations

from litestar import post
from litestar.di import NamedDependency
from litestar.params import FromQuery
from litestar.types import ControllerRouterHandler

from services.agent_memory.memories import routes as memories
from services.agent_memory.purge import Purge
from services.agent_memory.vault import routes as vault
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.operations import ADMIN


@post("/internal/purge", opt=ADMIN, status_code=200, include_in_schema=False)
async def purge_scope(
    purged: FromQuery[str],
    purge: NamedDependency[Purge],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    agent: FromQuery[str | None] = None,
    user: FromQuery[str | None] = None,
) -> dict[str, int]:
    """All that an agent wrote here stands in its own scope."""
    return await purge.erase(principal, purged, user, deadline)


ROUTES: list[ControllerRouterHandler] = [*memories.ROUTES, *vault.ROUTES, purge_scope]
