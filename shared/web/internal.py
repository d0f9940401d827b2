"""The internal routes that every owner has."""

from __future__ import annotations

from litestar import get, post
from litestar.di import NamedDependency
from litestar.params import JSONBody

from shared.database.index_queue import StoreBacklog
from shared.database.indexer import Indexer
from shared.review.deciding import Deciding
from shared.review.schemas import Decided, DecideRequest, QueuePart, QueueRequest
from shared.search.evidence import SearchRequest, SearchResult
from shared.search.owner import OwnerSearch
from shared.states.comparing import OwnerStates
from shared.states.schemas import States, StatesRequest
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.operations import ADMIN, READ


@post("/internal/search", opt=READ, status_code=200, include_in_schema=False)
async def internal_search(
    data: JSONBody[SearchRequest],
    owner_search: NamedDependency[OwnerSearch],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> SearchResult:
    return await owner_search.search(principal, data, deadline)


@post("/internal/states", opt=READ, status_code=200, include_in_schema=False)
async def internal_states(
    data: JSONBody[StatesRequest],
    owner_states: NamedDependency[OwnerStates],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> States:
    return await owner_states.changed(principal, data, deadline)


@get("/internal/backlog", opt=READ, include_in_schema=False)
async def internal_backlog(
    indexer: NamedDependency[Indexer], principal: PrincipalDep, deadline: DeadlineDep
) -> list[StoreBacklog]:
    return await indexer.backlog(principal.tenant, deadline)


@post("/internal/review", opt=READ, status_code=200, include_in_schema=False)
async def internal_review(
    data: JSONBody[QueueRequest],
    deciding: NamedDependency[Deciding],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> QueuePart:
    return await deciding.queue(principal, data, deadline)


@post("/internal/review/decide", opt=ADMIN, status_code=200, include_in_schema=False)
async def internal_review_decide(
    data: JSONBody[DecideRequest],
    deciding: NamedDependency[Deciding],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> Decided:
    return await deciding.decide(principal, data, deadline)
