"""HTTP of what changed for a session."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Request, get
from litestar.di import NamedDependency
from litestar.params import Parameter

from services.context.delta.schemas import Changes
from services.context.delta.service import Asker, Sessions
from shared.errors import Invalid
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.operations import READ, problems
from shared.web.request import request_id_of

_SESSION = Parameter(min_length=1, max_length=200, description="The `session_id` of its assemblies.")
_CALLER = Parameter(
    min_length=1, max_length=200, description="The agent that asked. Required unless the key is bound to one."
)


@get("/changes", opt=READ | problems(403))
async def changes(
    request: Request[Any, Any, Any],
    sessions: NamedDependency[Sessions],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    session_id: Annotated[str, _SESSION],
    caller: Annotated[str | None, _CALLER] = None,
) -> Changes:
    """Tell what has changed of that which a session was given, without counting it as told.

    A session is that of the key and the caller. Of each store, the 5,000 parts of items that the session was given last
    are compared. The next answer with `delta` tells the same, and what items say now. When somebody edits, supersedes
    or deletes an item, the timeline tells its sessions as `context_stale`.
    """
    principal.require_agent(caller)
    name = caller or principal.agent
    if name is None:
        raise Invalid.field("caller", "is required: this key is bound to no agent")
    return await sessions.changes(Asker(principal, name, request_id_of(request.scope)), session_id, deadline)
