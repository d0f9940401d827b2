from __future__ import annotations

from litestar import Router, get, put
from litestar.di import NamedDependency
from litestar.params import JSONBody

from services.context.scrubbing.schemas import PolicyInput, SecretPolicy
from services.context.scrubbing.service import Scrubber
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.operations import ADMIN, READ


@get("/", opt=READ)
async def secret_policy(
    scrubber: NamedDependency[Scrubber], principal: PrincipalDep, deadline: DeadlineDep
) -> SecretPolicy:
    """What becomes of secrets in what the tenant's callers send, such as provider keys and passwords in addresses."""
    return await scrubber.policy(principal, deadline)


@put("/", opt=ADMIN)
async def set_secret_policy(
    scrubber: NamedDependency[Scrubber],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    data: JSONBody[PolicyInput],
) -> SecretPolicy:
    """Set what becomes of secrets from now on: `mask`, `refuse` or `allow`. It holds for the whole tenant.

    What is stored already stays as it is.
    """
    return await scrubber.set_policy(principal, data.policy, deadline)


SECRETS = Router("/secrets", route_handlers=[secret_policy, set_secret_policy])
