"""HTTP of purge."""

from __future__ import annotations

from typing import Any

from litestar import Request, post
from litestar.di import NamedDependency
from litestar.params import JSONBody

from services.context.purge.schemas import PurgeInput, Receipt
from services.context.purge.service import Purge
from services.context.purge.tenants import SECONDS, TenantPurge
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.operations import ADMIN, takes
from shared.web.request import request_id_of


@post("/purge", opt=ADMIN | takes(SECONDS), status_code=200)
async def purge(
    request: Request[Any, Any, Any],
    data: JSONBody[PurgeInput],
    purge_service: NamedDependency[Purge],
    tenant_purge: NamedDependency[TenantPurge],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> Receipt:
    """Erase a scope, or everything of an agent, a user, a mission or the tenant, from every table of every service.

    The keys that are bound to it alone are revoked. The receipt counts the erased rows of each table. The purge of a
    tenant needs a key without bounds, and goes on by itself if it is interrupted.
    """
    if data.of_tenant:
        return await tenant_purge.purge(principal, data, request_id_of(request.scope))
    return await purge_service.purge(principal, data, deadline, request_id_of(request.scope))
