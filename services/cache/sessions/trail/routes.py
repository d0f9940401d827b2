"""HTTP of trails."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Request, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery, JSONBody, Parameter
from litestar.types import ControllerRouterHandler

from services.cache.sessions.trail.schemas import (
    Appended,
    AppendInput,
    CompactInput,
    Compaction,
    Conversation,
    History,
    HistoryCursor,
    Rebuilt,
    Reset,
    ResetInput,
)
from services.cache.sessions.trail.service import Trail
from shared.paging.parameters import DEFAULT_LIMIT, CursorText, Limit
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.idempotency_key import key_of
from shared.web.operations import KEYED, READ, WRITE, problems


@post(
    "/{session_id:str}/events",
    operation_id="session_append",
    opt=WRITE | KEYED | problems(404, 409),
    status_code=201,
)
async def append(
    request: Request[Any, Any, Any],
    session_id: FromPath[str],
    data: JSONBody[AppendInput],
    trail: NamedDependency[Trail],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> Appended:
    """Add messages to the trail of a session: what was said, calls of tools, and their results.

    The order of arrival is their order. The bytes of images are not stored.
    """
    return await trail.append(principal, session_id, data, await key_of(request), deadline)


@get("/{session_id:str}/history", operation_id="session_history", opt=READ | problems(404))
async def history(
    session_id: FromPath[str],
    trail: NamedDependency[Trail],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    full: Annotated[bool, Parameter(description="With the calls of tools and their results.")] = False,
    cursor: CursorText = None,
    limit: Limit = DEFAULT_LIMIT,
) -> History:
    """Read everything that happened in a session, in order, also what a compaction or a reset took out."""
    return await trail.history(principal, session_id, cursor, limit, deadline, full=full)


@get("/{session_id:str}/conversation", operation_id="session_conversation", opt=READ | problems(404))
async def conversation(
    session_id: FromPath[str],
    trail: NamedDependency[Trail],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> Conversation:
    """Resume a session: its messages since the last reset, and the summary of what compactions took out."""
    return await trail.conversation(principal, session_id, deadline)


@post(
    "/{session_id:str}/compact",
    operation_id="session_compact",
    opt=WRITE | KEYED | problems(404, 409),
    status_code=200,
)
async def compact(
    request: Request[Any, Any, Any],
    session_id: FromPath[str],
    data: JSONBody[CompactInput],
    trail: NamedDependency[Trail],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> Compaction:
    """Put a summary in the place of the oldest two thirds of the conversation. Does nothing when none is due."""
    return await trail.compact(principal, session_id, data, await key_of(request), deadline)


@post("/{session_id:str}/rebuild", operation_id="session_rebuild", opt=WRITE | problems(404), status_code=200)
async def rebuild(
    session_id: FromPath[str],
    trail: NamedDependency[Trail],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> Rebuilt:
    """Make the snapshot of the conversation from the trail again, and say whether it differed."""
    return await trail.rebuild(principal, session_id, deadline)


@post("/reset", operation_id="session_reset", opt=WRITE | KEYED | problems(404, 409), status_code=200)
async def reset(
    request: Request[Any, Any, Any],
    data: JSONBody[ResetInput],
    trail: NamedDependency[Trail],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> Reset:
    """Begin conversations anew: of one session, of an agent's sessions, or of all. Their trails keep everything."""
    return await trail.reset(principal, data, await key_of(request), deadline)


@get("/internal/sessions/{session_id:str}/events", opt=READ, include_in_schema=False)
async def internal_events(
    session_id: FromPath[str],
    trail: NamedDependency[Trail],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    after: FromQuery[int],
    limit: Limit = DEFAULT_LIMIT,
) -> History:
    """The events behind one. The page may end early."""
    return await trail.history(
        principal, session_id, HistoryCursor(seq=after).text(), limit, deadline, full=True
    )


HANDLERS: list[ControllerRouterHandler] = [append, history, conversation, compact, rebuild, reset]
