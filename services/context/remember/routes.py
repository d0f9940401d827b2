from __future__ import annotations

from typing import Any

from litestar import Request, post
from litestar.di import NamedDependency
from litestar.params import JSONBody

from services.context.log.signals import Signals
from services.context.remember.schemas import RememberInput, RememberResult
from services.context.remember.service import Remember
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.idempotency_key import key_of
from shared.web.operations import KEYED, WRITE, problems
from shared.web.request import request_id_of


@post("/remember", opt=WRITE | KEYED | problems(403, 409), status_code=200)
async def remember(
    request: Request[Any, Any, Any],
    data: JSONBody[RememberInput],
    remember_service: NamedDependency[Remember],
    signals: NamedDependency[Signals],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> RememberResult:
    """Remember a text or the messages of a conversation. Rules choose where each goes, and the answer says where.

    What happened in a mission becomes one of its entries. What reads like a lesson, and everything said outside a
    mission, becomes a memory of the agent. Recalled context, repeats and system messages are not kept. With an
    Idempotency-Key, a retry after a failure stores what is missing, and nothing twice.
    """
    done = await remember_service.remember(
        principal, data, await key_of(request), deadline, request_id_of(request.scope)
    )
    signals.wrote(principal, await request.body())
    return done
