from __future__ import annotations

from typing import Annotated, Any

from litestar import Request, Router, delete, get, patch, post
from litestar.di import NamedDependency
from litestar.params import JSONBody, Parameter

from services.context.keys.schemas import ApiKey, ApiKeys, KeyChange, KeyInput, MadeKey, Me, RotateInput
from services.context.keys.service import KeyService
from shared.paging.parameters import DEFAULT_LIMIT, CursorText, Limit
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.idempotency_key import key_of
from shared.web.operations import ADMIN, KEYED, READ, problems

KeyId = Annotated[int, Parameter(ge=1, le=2**63 - 1)]


@get("/me", opt=READ)
async def me(principal: PrincipalDep) -> Me:
    """Tell what the key of this request may do, and for which agent, missions and users."""
    return Me.of(principal)


@post("/", opt=ADMIN | KEYED, status_code=201)
async def make_key(
    request: Request[Any, Any, Any],
    key_service: NamedDependency[KeyService],
    data: JSONBody[KeyInput],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> MadeKey:
    """Make an API key. Its secret is in this answer only; what is kept is a hash.

    It can hold no more than the key that makes it: access, agent, missions, users, limits and time. What it uses counts
    for the key that made it, too. An admin token of the environment makes keys of other tenants: name the `tenant`.
    """
    return await key_service.make(principal, data, await key_of(request), deadline)


@get("/", opt=ADMIN)
async def list_keys(
    key_service: NamedDependency[KeyService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    cursor: CursorText = None,
    limit: Limit = DEFAULT_LIMIT,
) -> ApiKeys:
    """List the tenant's keys with their usage today, including revoked ones, but never a secret."""
    return await key_service.list(principal, cursor, limit, deadline)


@get("/{key_id:int}", opt=ADMIN | problems(404))
async def get_key(
    key_service: NamedDependency[KeyService], principal: PrincipalDep, deadline: DeadlineDep, key_id: KeyId
) -> ApiKey:
    """Get a key with its usage today."""
    return await key_service.get(principal, key_id, deadline)


@patch("/{key_id:int}", opt=ADMIN | problems(404))
async def change_key(
    key_service: NamedDependency[KeyService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    key_id: KeyId,
    data: JSONBody[KeyChange],
) -> ApiKey:
    """Change a key's name or limits. Its access, agent, missions and users never change."""
    return await key_service.change(principal, key_id, data, deadline)


@post("/{key_id:int}/rotate", opt=ADMIN | KEYED | problems(404, 409), status_code=200)
async def rotate_key(
    request: Request[Any, Any, Any],
    key_service: NamedDependency[KeyService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    key_id: KeyId,
    data: JSONBody[RotateInput],
) -> MadeKey:
    """Make a new secret for a key. The current secret stays valid for the overlap, and an older one ends now."""
    return await key_service.rotate(principal, key_id, data, await key_of(request), deadline)


@delete("/{key_id:int}", opt=ADMIN | problems(404), status_code=200)
async def revoke_key(
    key_service: NamedDependency[KeyService], principal: PrincipalDep, deadline: DeadlineDep, key_id: KeyId
) -> ApiKey:
    """Revoke a key, with every key that it made and that those made.

    This replica refuses them at once, and every other within two seconds.
    """
    return await key_service.revoke(principal, key_id, deadline)


KEYS = Router("/keys", route_handlers=[make_key, list_keys, get_key, change_key, rotate_key, revoke_key])
