"""HTTP of persistent objects."""

from __future__ import annotations

from typing import Annotated, Any
from uuid import UUID

from litestar import Request, Router, delete, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, Parameter

from services.cache.persistent.schemas import (
    ForgottenObject,
    KeptObject,
    PersistentAnswer,
    PersistentObjects,
    PersistInput,
)
from services.cache.persistent.service import PersistentService
from shared.paging.parameters import DEFAULT_LIMIT, CursorText, Limit
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.idempotency_key import key_of
from shared.web.operations import KEYED, READ, WRITE, problems


@post(
    "/{session_id:str}/objects/{object_id:uuid}/persist",
    operation_id="session_persist",
    opt=WRITE | KEYED | problems(404, 409),
    status_code=201,
)
async def persist(
    request: Request[Any, Any, Any],
    session_id: FromPath[str],
    object_id: FromPath[UUID],
    data: JSONBody[PersistInput],
    persistent: NamedDependency[PersistentService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> KeptObject:
    """Keep an object for the user of its session. It outlives the session, and later sessions with the user find it.

    The same content for the same user is kept once: to keep it again reinforces it. Nobody but the session's user can
    be named.
    """
    return await persistent.keep(principal, session_id, object_id, data, await key_of(request), deadline)


@get("/", operation_id="persistent_objects_list", opt=READ | problems(403))
async def list_objects(
    persistent: NamedDependency[PersistentService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    user_id: Annotated[str, Parameter(min_length=1, max_length=200, description="Whose they are.")],
    cursor: CursorText = None,
    limit: Limit = DEFAULT_LIMIT,
) -> PersistentObjects:
    """List what is kept for a user, newest first, with the confidence that is left of each."""
    return await persistent.list_objects(principal, user_id, cursor, limit, deadline)


@get("/{persistent_id:str}", operation_id="persistent_objects_get", opt=READ | problems(404))
async def persistent_object(
    persistent_id: FromPath[str],
    persistent: NamedDependency[PersistentService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> PersistentAnswer:
    """Get what is kept for a user."""
    return PersistentAnswer(await persistent.get(principal, persistent_id, deadline))


@post(
    "/{persistent_id:str}/reinforce",
    operation_id="persistent_objects_reinforce",
    opt=WRITE | KEYED | problems(404),
    status_code=200,
)
async def reinforce(
    request: Request[Any, Any, Any],
    persistent_id: FromPath[str],
    persistent: NamedDependency[PersistentService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> PersistentAnswer:
    """Confirm what is kept for a user: half of the confidence that it lacks comes back, and its time begins anew."""
    key = await key_of(request)
    return PersistentAnswer(await persistent.reinforce(principal, persistent_id, key, deadline))


@delete(
    "/{persistent_id:str}",
    operation_id="persistent_objects_forget",
    opt=WRITE | problems(404),
    status_code=200,
)
async def forget(
    persistent_id: FromPath[str],
    persistent: NamedDependency[PersistentService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> ForgottenObject:
    """Erase what is kept for a user. The objects of sessions stay as they are."""
    return await persistent.forget(principal, persistent_id, deadline)


KEEPING = Router("/api/sessions", route_handlers=[persist], tags=["sessions"])
PERSISTENT = Router(
    "/api/persistent-objects",
    route_handlers=[list_objects, persistent_object, reinforce, forget],
    tags=["sessions"],
)
