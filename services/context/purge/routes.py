"""HTTP of purge."""

from __future__ import annotations

from typing import Any

from litestar import Request, post
from litestar.di import NamedDependency
from litestar.params import JSONBody

from services.context.purge.schemas import PurgeInput, Receipt
from services.context.purge.service import Purge
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.operations import ADMIN
from shared.web.request import request_id_of


@post("/purge", opt=ADMIN, status_code=200)
async def purge(
    request: Request[Any, Any, Any],
    data: JSONBody[PurgeInput],
    purge_service: NamedDependency[Purge],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> Receipt:
    """Erase a scope, or everything of an agent, a user or a mission, from every table of every service.

    The receipt counts the erased rows of each table.
    """
    return await purge_service.purge(principal, data, deadline, request_id_of(request.scope))
