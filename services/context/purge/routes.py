"""HTTP of purge."""

from __future__ import annotations

from typing import Any

from litestar import Request, post
from litestar.datastructures import State

from services.context.purge.schemas import PurgeInput, Receipt
from services.context.purge.service import Purge
from shared.auth import Principal
from shared.deadline import Deadline
from shared.web.app import request_id_of
from shared.web.operations import ADMIN


@post("/purge", opt=ADMIN, status_code=200)
async def purge(
    request: Request[Any, Any, Any],
    data: PurgeInput,
    state: State,
    principal: Principal,
    deadline: Deadline,
) -> Receipt:
    """Erase a scope, or all of an agent, a user or a mission, from every table of every service.

    The receipt counts what was erased, table by table.
    """
    service: Purge = state.purge
    return await service.purge(principal, data, deadline, request_id_of(request.scope))
