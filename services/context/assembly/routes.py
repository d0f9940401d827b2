"""HTTP of assemble."""

from __future__ import annotations

from typing import Any

from litestar import Request, post
from litestar.di import NamedDependency
from litestar.params import JSONBody

from services.context.assembly.schemas import AssembleContextInput, Assembly
from services.context.assembly.service import Assembler
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.operations import READ, may_take, problems
from shared.web.request import longest_deadline, request_id_of

SYNTHESIS_SECONDS = 15.0


@post("/assemble", opt=READ | may_take(SYNTHESIS_SECONDS) | problems(403), status_code=200)
async def assemble(
    request: Request[Any, Any, Any],
    data: JSONBody[AssembleContextInput],
    assembler: NamedDependency[Assembler],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> Assembly:
    """Assemble the context that matters now, from every store, within a token budget and with each item's score."""
    if data.style != "structured":
        deadline = longest_deadline(request)
    return await assembler.assemble(principal, data, deadline, request_id_of(request.scope))
