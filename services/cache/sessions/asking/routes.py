"""HTTP of questions and goals."""

from __future__ import annotations

from litestar import post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody
from litestar.types import ControllerRouterHandler

from services.cache.sessions.asking.schemas import MicroFault, QuestionInput
from services.cache.sessions.asking.service import Asking
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.operations import READ, problems


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


HANDLERS: list[ControllerRouterHandler] = [query]
