"""HTTP of prompts."""

from __future__ import annotations

from typing import Any

from litestar import Request, post
from litestar.di import NamedDependency
from litestar.params import JSONBody

from services.context.assembly.routes import SYNTHESIS_SECONDS
from services.context.prompts.schemas import Prompt, PromptInput
from services.context.prompts.service import Prompts
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.operations import READ, may_take, problems
from shared.web.request import longest_deadline, request_id_of


@post(
    "/prompt",
    operation_id="context_prompt",
    opt=READ | may_take(SYNTHESIS_SECONDS) | problems(403),
    status_code=200,
)
async def prompt(
    request: Request[Any, Any, Any],
    data: JSONBody[PromptInput],
    prompts: NamedDependency[Prompts],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> Prompt:
    """Build a system prompt in parts that a provider can cache: what is stable first, the assembled context last."""
    if data.context is not None and data.context.style != "structured":
        deadline = longest_deadline(request)
    return await prompts.build(principal, data, deadline, request_id_of(request.scope))
