"""HTTP of questions and goals."""

from __future__ import annotations

from typing import Any

from litestar import Request, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody
from litestar.types import ControllerRouterHandler

from services.cache.sessions.asking.goals import Goals
from services.cache.sessions.asking.schemas import GoalInput, GoalSet, MicroFault, QuestionInput
from services.cache.sessions.asking.service import Asking
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.idempotency_key import key_of
from shared.web.operations import KEYED, READ, WRITE, problems


@post("/{session_id:str}/query", operation_id="session_query", opt=READ | problems(404), status_code=200)
async def query(
    session_id: FromPath[str],
    data: JSONBody[QuestionInput],
    asking: NamedDependency[Asking],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> MicroFault:
    """Ask what a session's objects say, evicted ones too: the lines that answer come back, not the whole object.

    It takes a small share of the tokens of a fault, and the object stays as it is.
    """
    return await asking.query(principal, session_id, data, deadline)


@post(
    "/{session_id:str}/goal",
    operation_id="session_goal",
    opt=WRITE | KEYED | problems(404, 409),
    status_code=200,
)
async def goal(
    request: Request[Any, Any, Any],
    session_id: FromPath[str],
    data: JSONBody[GoalInput],
    goals: NamedDependency[Goals],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> GoalSet:
    """Say what the agent works towards. What the session holds about it comes up as far as there is room, and stays."""
    return await goals.set(principal, session_id, data, await key_of(request), deadline)


HANDLERS: list[ControllerRouterHandler] = [query, goal]
