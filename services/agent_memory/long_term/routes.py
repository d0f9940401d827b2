"""HTTP of long-term memory."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Annotated, Any

from litestar import Request, Router, delete, get, patch, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, Parameter
from litestar.types import ControllerRouterHandler

from services.agent_memory.long_term.schemas import (
    DeletedMemory,
    DueCommitments,
    EditMemoryInput,
    FoundLongTerms,
    Kind,
    ListFilter,
    LongTermMemories,
    LongTermMemory,
    SearchMemoryInput,
    Status,
    WriteBatchInput,
    WriteMemoryInput,
    WrittenMemories,
    WrittenMemory,
)
from services.agent_memory.long_term.search import LongTermSearch
from services.agent_memory.long_term.service import DueFilter, LongTerm
from shared.concurrency import clock
from shared.errors import NotFound
from shared.paging.cursors import MAX_CURSOR
from shared.provenance import utc
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.idempotency_key import key_of
from shared.web.operations import KEYED, READ, WRITE, problems

MAX_ID = 2**63 - 1
_SOON = timedelta(days=7)
_Cursor = Annotated[
    str | None,
    Parameter(
        required=False,
        max_length=MAX_CURSOR,
        description="The `next` of the page before; else the first page.",
    ),
]
_Limit = Annotated[int, Parameter(ge=1, le=100)]


@post("", operation_id="memory_write", opt=WRITE | KEYED | problems(403), status_code=201)
async def write(
    request: Request[Any, Any, Any],
    data: JSONBody[WriteMemoryInput],
    long_term: NamedDependency[LongTerm],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> WrittenMemory:
    """Remember something beyond a mission: a preference, knowledge, a summary, an episode or a commitment.

    What a scope has already stays as it is.
    """
    done = await long_term.write(principal, [data], await key_of(request), deadline)
    return done.results[0]


@post("/batch", operation_id="memory_write_batch", opt=WRITE | KEYED | problems(403), status_code=201)
async def write_batch(
    request: Request[Any, Any, Any],
    data: JSONBody[WriteBatchInput],
    long_term: NamedDependency[LongTerm],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> WrittenMemories:
    """Remember up to 100 memories, all or none."""
    return await long_term.write(principal, data.memories, await key_of(request), deadline)


@get("", operation_id="memory_list", opt=READ | problems(403))
async def list_memories(
    long_term: NamedDependency[LongTerm],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    in_scope: Annotated[
        str | None, Parameter(required=False, max_length=250, description="Only memories of this scope.")
    ] = None,
    kind: Annotated[Kind | None, Parameter(required=False, description="Only memories of this kind.")] = None,
    status: Annotated[
        Status | None, Parameter(required=False, description="Only commitments of this status.")
    ] = None,
    user_id: Annotated[
        str | None, Parameter(required=False, max_length=250, description="Nothing about other users.")
    ] = None,
    cursor: _Cursor = None,
    limit: _Limit = 50,
) -> LongTermMemories:
    """List long-term memories, newest first."""
    wanted = ListFilter(scope=in_scope, kind=kind, status=status, user_id=user_id)
    return await long_term.list_memories(principal, wanted, cursor, limit, deadline)


@get("/due", operation_id="memory_due", opt=READ | problems(403))
async def due(
    long_term: NamedDependency[LongTerm],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    in_scope: Annotated[
        str | None,
        Parameter(
            required=False, max_length=250, description="Only commitments of this scope, such as `mission:…`."
        ),
    ] = None,
    owed_by: Annotated[
        str | None,
        Parameter(required=False, max_length=250, description="Only what this agent or person promised."),
    ] = None,
    user_id: Annotated[
        str | None, Parameter(required=False, max_length=250, description="Nothing about other users.")
    ] = None,
    until: Annotated[
        datetime | None, Parameter(required=False, description="Due by then. Left out, in the next 7 days.")
    ] = None,
    since: Annotated[
        datetime | None,
        Parameter(required=False, description="Also those that have expired since then. Left out, none."),
    ] = None,
    cursor: _Cursor = None,
    limit: _Limit = 50,
) -> DueCommitments:
    """List the open commitments that are due, the first first. Done and cancelled ones are left out."""
    wanted = DueFilter(
        scopes=None if in_scope is None else [in_scope],
        owed_by=owed_by,
        user_id=user_id,
        until=utc(until, "until") or clock.now() + _SOON,
        since=utc(since, "since"),
    )
    return await long_term.due(principal, wanted, cursor, limit, deadline)


@post("/search", operation_id="memory_search", opt=READ | problems(403), status_code=200)
async def search(
    data: JSONBody[SearchMemoryInput],
    long_term_search: NamedDependency[LongTermSearch],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> FoundLongTerms:
    """Search long-term memory, by full text first.

    The query is embedded only when fewer than 3 memories hold more than two thirds of its content words.
    """
    return await long_term_search.find(principal, data, deadline)


@get("/{memory_id:int}", operation_id="memory_get", opt=READ | problems(404))
async def get_memory(
    memory_id: FromPath[int],
    long_term: NamedDependency[LongTerm],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> LongTermMemory:
    """Get a long-term memory."""
    return await long_term.get(principal, _id(memory_id), deadline)


@patch("/{memory_id:int}", operation_id="memory_edit", opt=WRITE | problems(404, 409))
async def edit(
    memory_id: FromPath[int],
    data: JSONBody[EditMemoryInput],
    long_term: NamedDependency[LongTerm],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> LongTermMemory:
    """Change a long-term memory, or what became of a commitment. Fields left out stay."""
    return await long_term.edit(principal, _id(memory_id), data, deadline)


@delete("/{memory_id:int}", operation_id="memory_delete", opt=WRITE | problems(404), status_code=200)
async def delete_memory(
    memory_id: FromPath[int],
    long_term: NamedDependency[LongTerm],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> DeletedMemory:
    """Delete a long-term memory."""
    return await long_term.delete(principal, _id(memory_id), deadline)


def _id(memory_id: int) -> int:
    if not 0 < memory_id <= MAX_ID:
        raise NotFound(f"no memory {memory_id}")
    return memory_id


_HANDLERS: list[ControllerRouterHandler] = [
    write,
    write_batch,
    list_memories,
    due,
    search,
    get_memory,
    edit,
    delete_memory,
]
ROUTES: list[ControllerRouterHandler] = [
    Router("/api/memory", route_handlers=_HANDLERS, tags=["long-term memory"])
]
