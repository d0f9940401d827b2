"""HTTP of feedback."""

from __future__ import annotations

from typing import Any

from litestar import Request, post
from litestar.datastructures import State

from services.context.log.feedback import Feedback
from services.context.log.schemas import ContextFeedback
from services.context.schemas import Success
from shared.auth import Principal
from shared.deadline import Deadline
from shared.web.idempotency_key import key_of
from shared.web.operations import KEYED, WRITE, problems


@post("/feedback", opt=WRITE | KEYED | problems(404), status_code=200)
async def feedback(
    request: Request[Any, Any, Any],
    data: ContextFeedback,
    state: State,
    principal: Principal,
    deadline: Deadline,
) -> Success:
    """Which sources of an assembly were of use."""
    service: Feedback = state.feedback
    await service.note(principal, data, await key_of(request), deadline)
    return Success()
