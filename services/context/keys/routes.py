from __future__ import annotations

from typing import Annotated, Any

from litestar import Request, Router, delete, get, patch, post
from litestar.datastructures import State
from litestar.params import Parameter

from services.context.keys.schemas import ApiKey, ApiKeys, KeyChange, KeyInput, MadeKey, RotateInput
from services.context.keys.service import KeyService
from shared.auth import Principal
from shared.deadline import Deadline
from shared.web.idempotency_key import key_of
from shared.web.operations import ADMIN, KEYED, problems

KeyId = Annotated[int, Parameter(ge=1, le=2**63 - 1)]
After = Annotated[int, Parameter(ge=0, le=2**63 - 1)]
Limit = Annotated[int, Parameter(ge=1, le=1_000)]


def _keys(state: State) -> KeyService:
    keys: KeyService = state.key_service
    return keys


@post("/", opt=ADMIN | KEYED, status_code=201)
async def make_key(
    request: Request[Any, Any, Any], state: State, data: KeyInput, principal: Principal, deadline: Deadline
) -> MadeKey:
    """Make an API key. Its secret is in this answer only; what is kept is a hash.

    It can hold no more than the key that makes it: access, agent, missions, users, limits and time.
    """
    return await _keys(state).make(principal, data, await key_of(request), deadline)


@get("/", opt=ADMIN)
async def list_keys(
    state: State, principal: Principal, deadline: Deadline, after: After = 0, limit: Limit = 100
) -> ApiKeys:
    """The tenant's keys with what they used today, revoked ones too; never a secret."""
    return await _keys(state).list(principal, after, limit, deadline)


@get("/{key_id:int}", opt=ADMIN | problems(404))
async def get_key(state: State, principal: Principal, deadline: Deadline, key_id: KeyId) -> ApiKey:
    """One key, with what it used today."""
    return await _keys(state).get(principal, key_id, deadline)


@patch("/{key_id:int}", opt=ADMIN | problems(404))
async def change_key(
    state: State, principal: Principal, deadline: Deadline, key_id: KeyId, data: KeyChange
) -> ApiKey:
    """Change a key's name or limits. What it may touch stays as it was made."""
    return await _keys(state).change(principal, key_id, data, deadline)


@post("/{key_id:int}/rotate", opt=ADMIN | KEYED | problems(404, 409), status_code=200)
async def rotate_key(
    request: Request[Any, Any, Any],
    state: State,
    principal: Principal,
    deadline: Deadline,
    key_id: KeyId,
    data: RotateInput,
) -> MadeKey:
    """A new secret for a key. The one in force stays valid beside it for the overlap, an older one ends now."""
    return await _keys(state).rotate(principal, key_id, data, await key_of(request), deadline)


@delete("/{key_id:int}", opt=ADMIN | problems(404), status_code=200)
async def revoke_key(state: State, principal: Principal, deadline: Deadline, key_id: KeyId) -> ApiKey:
    """Withdraw a key. It is refused at once here, and within two seconds by every replica."""
    return await _keys(state).revoke(principal, key_id, deadline)


KEYS = Router("/keys", route_handlers=[make_key, list_keys, get_key, change_key, rotate_key, revoke_key])
