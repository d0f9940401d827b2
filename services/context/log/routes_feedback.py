"""HTTP of feedback."""

from __future__ import annotations

from typing import Any

from litestar import Request, post
from litestar.di import NamedDependency
from litestar.params import JSONBody

from services.context.log.feedback import Feedback
from services.context.log.schemas import ContextFeedback
from services.context.schemas import Success
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.idempotency_key import key_of
from shared.web.operations import KEYED, WRITE, problems


@post("/feedback", opt=WRITE | KEYED | problems(404), status_code=200)
async def feedback(
    request: Request[Any, Any, Any],
    data: JSONBody[ContextFeedback],
    feedback_service: NamedDependency[Feedback],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> Success:
    """Which sources of an assembly were of use."""
    await feedback_service.note(principal, data, await key_of(request), deadline)
    return Success()
