"""HTTP of consolidation. What runs did is read and undone at their owner."""

from __future__ import annotations

from typing import Any

from litestar import Request, post
from litestar.di import NamedDependency
from litestar.params import JSONBody

from services.context.consolidation.schemas import Consolidated, ConsolidateInput
from services.context.consolidation.service import SECONDS, Consolidation
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.operations import WRITE, problems, takes
from shared.web.request import request_id_of


@post(
    "/api/memory/consolidate",
    operation_id="memory_consolidate",
    opt=WRITE | takes(SECONDS) | problems(403, 404, 409),
    status_code=200,
    tags=["consolidation"],
)
async def consolidate(
    request: Request[Any, Any, Any],
    data: JSONBody[ConsolidateInput],
    consolidation: NamedDependency[Consolidation],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> Consolidated:
    """Learn facts, episodes, commitments and other names from a session, from where the last run ended, or from a file.

    What was recalled is not learned again. All that is learned names the turns it comes from, and can be undone.
    """
    return await consolidation.consolidate(principal, data, deadline, request_id_of(request.scope))
