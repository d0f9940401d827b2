"""HTTP of sessions themselves, and the router of all that is below them."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Request, Router, delete, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery, JSONBody, Parameter
from litestar.types import ControllerRouterHandler

from services.cache.sessions.asking import routes as asking_routes
from services.cache.sessions.histories import routes as history_routes
from services.cache.sessions.objects import routes as object_routes
from services.cache.sessions.relationships import routes as relationship_routes
from services.cache.sessions.schemas import (
    CompleteSessionInput,
    CreatedSession,
    CreateSessionInput,
    DeletedSession,
    SessionAnswer,
    Sessions,
    Status,
)
from services.cache.sessions.search import routes as search_routes
from services.cache.sessions.service import SessionService
from services.cache.sessions.trail import routes as trail_routes
from shared.paging.parameters import DEFAULT_LIMIT, CursorText, Limit
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.idempotency_key import key_of
from shared.web.operations import KEYED, READ, WRITE, problems


@post("/", operation_id="session_create", opt=WRITE | KEYED | problems(409), status_code=201)
async def create(
    request: Request[Any, Any, Any],
    data: JSONBody[CreateSessionInput],
    sessions: NamedDependency[SessionService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> CreatedSession:
    """Begin a session, or resume the one with the same `external_id`, agent, mission and user."""
    return await sessions.create(principal, data, await key_of(request), deadline)


@get("/", operation_id="session_list", opt=READ | problems(403))
async def list_sessions(
    sessions: NamedDependency[SessionService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    agent_name: FromQuery[str | None] = None,
    mission_id: FromQuery[str | None] = None,
    user_id: Annotated[str | None, Parameter(description="Only sessions with this user.")] = None,
    status: FromQuery[Status | None] = None,
    cursor: CursorText = None,
    limit: Limit = DEFAULT_LIMIT,
) -> Sessions:
    """List sessions, newest first. A key that is bound to an agent or to missions sees only their sessions."""
    return await sessions.list_sessions(
        principal,
        deadline,
        agent_name=agent_name,
        mission_id=mission_id,
        user_id=user_id,
        status=status,
        cursor=cursor,
        limit=limit,
    )


@get("/{session_id:str}", operation_id="session_get", opt=READ | problems(404))
async def session(
    session_id: FromPath[str],
    sessions: NamedDependency[SessionService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> SessionAnswer:
    """Get a session by its id or its external id."""
    return SessionAnswer(await sessions.get(principal, session_id, deadline))


@post(
    "/{session_id:str}/complete",
    operation_id="session_complete",
    opt=WRITE | KEYED | problems(404, 409),
    status_code=200,
)
async def complete(
    request: Request[Any, Any, Any],
    session_id: FromPath[str],
    data: JSONBody[CompleteSessionInput],
    sessions: NamedDependency[SessionService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> SessionAnswer:
    """Close a session. It can still be read, searched and asked, but takes no more events, objects or turns."""
    key = await key_of(request)
    return SessionAnswer(await sessions.complete(principal, session_id, data, key, deadline))


@delete("/{session_id:str}", operation_id="session_delete", opt=WRITE | problems(404), status_code=200)
async def delete_session(
    session_id: FromPath[str],
    sessions: NamedDependency[SessionService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> DeletedSession:
    """Erase a session with its trail, its objects and their faults. The timeline and costs forget its name."""
    return await sessions.delete(principal, session_id, deadline)


_HANDLERS: list[ControllerRouterHandler] = [
    create,
    list_sessions,
    session,
    complete,
    delete_session,
    *trail_routes.HANDLERS,
    *object_routes.HANDLERS,
    *asking_routes.HANDLERS,
    *relationship_routes.HANDLERS,
    *history_routes.HANDLERS,
    *search_routes.HANDLERS,
]

SESSIONS = Router("/api/sessions", route_handlers=_HANDLERS, tags=["sessions"])
