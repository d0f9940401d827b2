"""HTTP of the vault, only for the context service."""

from __future__ import annotations

from litestar import post
from litestar.di import NamedDependency
from litestar.params import JSONBody
from litestar.types import ControllerRouterHandler

from services.agent_memory.vault.schemas import Links, LinksRequest
from services.agent_memory.vault.service import Vault
from shared.web.dependencies import PrincipalDep
from shared.web.operations import READ


@post("/internal/links", opt=READ, status_code=200, include_in_schema=False)
async def links(
    data: JSONBody[LinksRequest], vault: NamedDependency[Vault], principal: PrincipalDep
) -> Links:
    return Links(await vault.read(principal, data))


ROUTES: list[ControllerRouterHandler] = [links]
