"""HTTP of memories."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any

import msgspec
from litestar import Request, Response, Router, delete, get, patch, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, Parameter
from litestar.types import ControllerRouterHandler

from services.agent_memory.memories.accesses import AccessCounts
from services.agent_memory.memories.commits.service import Commits
from services.agent_memory.memories.schemas import (
    AccessesInput,
    CommitAgentMemoryInput,
    CommitBatchInput,
    CommitBatchResult,
    CommitResult,
    Counted,
    DeleteAnswer,
    EditAgentMemoryInput,
    FoundMemories,
    ListAgentMemoryInput,
    Memories,
    MemoryAnswer,
    PendingReview,
    QueryAgentMemoryInput,
    QueryPeerMemoryInput,
)
from services.agent_memory.memories.schemas_transfer import ExportedMemory, ImportResult
from services.agent_memory.memories.search import OWN, MemorySearch
from services.agent_memory.memories.service import MemoryReader
from services.agent_memory.memories.transfer import MAX_LINES, NDJSON, MemoryTransfer, parse
from shared.errors import Invalid, NotFound
from shared.provenance import utc
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.idempotency_key import key_of
from shared.web.operations import ADMIN, KEYED, READ, WRITE, answers, problems, reads

MAX_ID = 2**63 - 1
_NOT_TIMES = 'must be a JSON object of agents and ISO 8601 times, such as {"scout": "2026-01-31T09:30:00Z"}'
_SINCE = Parameter(description="A JSON map of agents to ISO times.")


@post("/commit", opt=WRITE | KEYED, status_code=201)
async def commit(
    request: Request[Any, Any, Any],
    data: JSONBody[CommitAgentMemoryInput],
    commits: NamedDependency[Commits],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> CommitResult:
    """Commit what an agent learned. Committing the same again confirms the memory instead of duplicating it."""
    committed = await commits.commit(principal, [data], await key_of(request), deadline)
    return committed.results[0]


@post("/batch", opt=WRITE | KEYED, status_code=201)
async def batch(
    request: Request[Any, Any, Any],
    data: JSONBody[CommitBatchInput],
    commits: NamedDependency[Commits],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> CommitBatchResult:
    """Commit up to 100 memories, all or none."""
    return await commits.commit(principal, data.memories, await key_of(request), deadline)


@get("/{memory_id:int}", operation_id="agent_memory_get", opt=READ | problems(404))
async def get_memory(
    memory_id: FromPath[int],
    reader: NamedDependency[MemoryReader],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> MemoryAnswer:
    """Get a memory and its confirmations. This does not count as an access."""
    return await reader.get(principal, _id(memory_id), deadline)


@patch("/{memory_id:int}", opt=WRITE | problems(404, 409))
async def edit(
    memory_id: FromPath[int],
    data: JSONBody[EditAgentMemoryInput],
    commits: NamedDependency[Commits],
    reader: NamedDependency[MemoryReader],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> MemoryAnswer:
    """Change a memory. Fields left out stay. Answers 409 if another memory of the agent says the same."""
    edited_id = await commits.edit(principal, _id(memory_id), data, deadline)
    return await reader.get(principal, edited_id, deadline)


@delete("/{memory_id:int}", operation_id="agent_memory_delete", opt=WRITE | problems(404), status_code=200)
async def delete_memory(
    memory_id: FromPath[int],
    commits: NamedDependency[Commits],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> DeleteAnswer:
    """Delete a memory and its confirmations."""
    return await commits.delete(principal, _id(memory_id), deadline)


@get("/export", opt=READ | problems(403) | answers(lines=ExportedMemory))
async def export(
    transfer: NamedDependency[MemoryTransfer],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    agent_name: Annotated[
        str | None,
        Parameter(
            required=False, description="Only this agent's memories. By default the key's agent, or else all."
        ),
    ] = None,
    after: Annotated[int, Parameter(ge=0, le=MAX_ID, description="The last id of the previous page.")] = 0,
    limit: Annotated[int, Parameter(ge=1, le=MAX_LINES)] = 500,
) -> Response[bytes]:
    """Export memories as JSON Lines, by id. The next page begins `after` the last line's id; an empty page is the end.

    A page is small enough to be imported unchanged. Exporting all agents needs an admin key.
    """
    page = await transfer.export(principal, agent_name, after, limit, deadline)
    return Response(page, media_type=NDJSON)


@post(
    "/import",
    operation_id="agent_memory_import",
    opt=ADMIN | KEYED | reads(lines=ExportedMemory),
    status_code=201,
)
async def import_memories(
    request: Request[Any, Any, Any],
    transfer: NamedDependency[MemoryTransfer],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> ImportResult:
    """Import lines of an export. Ids stay unless another memory has them. Known facts stay unchanged.

    What is imported is a claim: its `source_kind` is `imported`, and counts are at most 10,000. A time in the future is
    refused.
    """
    lines = parse(await request.body())
    return await transfer.restore(principal, lines, await key_of(request), deadline)


def _id(memory_id: int) -> int:
    if not 0 < memory_id <= MAX_ID:
        raise NotFound(f"no memory {memory_id}")
    return memory_id


@post("/query", opt=READ | problems(403), status_code=200)
async def query(
    data: JSONBody[QueryAgentMemoryInput],
    search: NamedDependency[MemorySearch],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> FoundMemories:
    """Search an agent's own memories, the most relevant first."""
    return await search.query(principal, data, deadline)


@post("/list", operation_id="agent_memory_list", opt=READ | problems(403), status_code=200)
async def list_memories(
    data: JSONBody[ListAgentMemoryInput],
    reader: NamedDependency[MemoryReader],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> Memories:
    """List an agent's memories, newest first."""
    return await reader.list_memories(principal, data, deadline)


@post("/peer-query", opt=READ, status_code=200)
async def peer_query(
    data: JSONBody[QueryPeerMemoryInput],
    search: NamedDependency[MemorySearch],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> FoundMemories:
    """Search another agent's memories, except its private ones."""
    return await search.query_peer(principal, data, deadline)


@get("/pending-review", opt=READ)
async def pending_review(
    since: Annotated[str, _SINCE],
    reader: NamedDependency[MemoryReader],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> PendingReview:
    """Count the memories that each named agent gained since its time."""
    try:
        wanted = msgspec.json.decode(since, type=dict[str, datetime])
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise Invalid.field("since", _NOT_TIMES) from error
    if len(wanted) > 1000:
        raise Invalid.field("since", "at most 1000 agents")
    times = {agent: at for agent, given in wanted.items() if (at := utc(given, "since")) is not None}
    return PendingReview(await reader.pending_review(principal, times, deadline))


@post("/internal/accesses", opt=WRITE, status_code=200, include_in_schema=False)
async def count_accesses(
    data: JSONBody[AccessesInput], accesses: NamedDependency[AccessCounts], principal: PrincipalDep
) -> Counted:
    """Own memories that assemblies put into blocks count as read."""
    counted = data.ids if data.store == OWN else []
    accesses.count(principal.tenant, counted)
    return Counted(len(counted))


_HANDLERS: list[ControllerRouterHandler] = [
    commit,
    batch,
    query,
    list_memories,
    peer_query,
    pending_review,
    get_memory,
    edit,
    delete_memory,
    export,
    import_memories,
]

ROUTES: list[ControllerRouterHandler] = [
    Router("/api/agent-memory", route_handlers=_HANDLERS, tags=["memories"]),
    count_accesses,
]
