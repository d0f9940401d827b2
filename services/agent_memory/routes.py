"""HTTP of the agent-memory service. `/api/agent-memory` is public (forwarded by context); `/internal` is not."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

import msgspec
from litestar import Request, Router, get, post
from litestar.types import ControllerRouterHandler

from services.agent_memory.links import Links, LinksRequest
from services.agent_memory.schemas import (
    CommitAgentMemoryInput,
    CommitResult,
    FoundMemories,
    ListAgentMemoryInput,
    Memories,
    PendingReview,
    QueryAgentMemoryInput,
    QueryPeerMemoryInput,
)
from services.agent_memory.service import AgentMemoryService
from shared.auth import Principal
from shared.deadline import Deadline
from shared.errors import Invalid
from shared.idempotency import key_of
from shared.remembered import utc
from shared.search.evidence import SearchRequest, SearchResult

READ = {"access": "read"}
WRITE = {"access": "write"}
ADMIN = {"access": "admin"}


@post("/commit", opt=WRITE, status_code=201)
async def commit(
    request: Request[Any, Any, Any],
    data: CommitAgentMemoryInput,
    service: AgentMemoryService,
    principal: Principal,
    deadline: Deadline,
) -> CommitResult:
    """Commit what an agent learned. Saying the same again confirms the memory instead of doubling it."""
    return await service.commit(principal, data, await key_of(request), deadline)


@post("/query", opt=READ, status_code=200)
async def query(
    data: QueryAgentMemoryInput, service: AgentMemoryService, principal: Principal, deadline: Deadline
) -> FoundMemories:
    """Search an agent's own memories, best composite score first."""
    return await service.query(principal, data, deadline)


@post("/list", opt=READ, status_code=200)
async def list_memories(
    data: ListAgentMemoryInput, service: AgentMemoryService, principal: Principal, deadline: Deadline
) -> Memories:
    """An agent's memories, newest first."""
    return Memories(await service.list_memories(principal, data, deadline))


@post("/peer-query", opt=READ, status_code=200)
async def peer_query(
    data: QueryPeerMemoryInput, service: AgentMemoryService, principal: Principal, deadline: Deadline
) -> FoundMemories:
    """Search one other agent's memories, without those it keeps private."""
    return await service.query_peer(principal, data, deadline)


@get("/pending-review", opt=READ)
async def pending_review(
    since: str, service: AgentMemoryService, principal: Principal, deadline: Deadline
) -> PendingReview:
    """How many memories each agent gained; `since` is a JSON map {agent: ISO time}."""
    try:
        wanted = msgspec.json.decode(since, type=dict[str, datetime])
    except msgspec.DecodeError as error:
        raise Invalid.field("since", f"must be a JSON map of agent to ISO time: {error}") from error
    if len(wanted) > 1000:
        raise Invalid.field("since", "at most 1000 agents")
    times = {agent: at for agent, given in wanted.items() if (at := utc(given, "since")) is not None}
    return PendingReview(await service.pending_review(principal, times, deadline))


@post("/internal/search", opt=READ, status_code=200, include_in_schema=False)
async def search(
    data: SearchRequest, service: AgentMemoryService, principal: Principal, deadline: Deadline
) -> SearchResult:
    if data.agent is None:
        raise Invalid.field("agent", "is required")
    return await service.search(principal, data, deadline)


@post("/internal/links", opt=READ, status_code=200, include_in_schema=False)
async def links(data: LinksRequest, service: AgentMemoryService, principal: Principal) -> Links:
    return Links(await asyncio.to_thread(service.vault.read, principal.tenant, data))


@post("/internal/purge", opt=ADMIN, status_code=200, include_in_schema=False)
async def purge(
    purged: str, service: AgentMemoryService, principal: Principal, deadline: Deadline
) -> dict[str, int]:
    return await service.purge(principal, purged, deadline)


ROUTES: list[ControllerRouterHandler] = [
    Router(
        "/api/agent-memory",
        route_handlers=[commit, query, list_memories, peer_query, pending_review],
        tags=["agent memory"],
    ),
    search,
    links,
    purge,
]
