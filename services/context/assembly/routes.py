"""HTTP of assemble."""

from __future__ import annotations

from typing import Any

from litestar import Request, post

from services.context.assembly.schemas import AssembleContextInput, Assembly
from services.context.assembly.service import ContextService
from shared.auth import Principal
from shared.deadline import Deadline
from shared.web.app import request_id_of
from shared.web.operations import READ, problems


@post("/assemble", opt=READ | problems(403), status_code=200)
async def assemble(
    request: Request[Any, Any, Any],
    data: AssembleContextInput,
    service: ContextService,
    principal: Principal,
    deadline: Deadline,
) -> Assembly:
    """The context that matters now, from every store, within a token budget, and why each item is in it."""
    return await service.assemble(principal, data, deadline, request_id_of(request.scope))
