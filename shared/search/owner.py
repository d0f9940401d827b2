"""An owner's internal search over the stores that a request names."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias

from shared.auth import Principal
from shared.deadline import Deadline
from shared.search.evidence import GRAPH, SearchRequest, SearchResult, StoreResult, Triple, together
from shared.telemetry import tracing

Search: TypeAlias = Callable[[Principal, SearchRequest, Deadline], Awaitable[SearchResult]]
Vacant: TypeAlias = Callable[[Principal, SearchRequest, Deadline], Awaitable[Mapping[str, StoreResult]]]
"""The results of those of the request's stores that are known to hold nothing."""
Graph: TypeAlias = Callable[[Principal, SearchRequest, Sequence[str], Deadline], Awaitable[list[Triple]]]
"""The facts of the question's entities, in the scopes."""


class OwnerSearch:
    """`stores` maps a store's name in the request to its search. What one of `vacant` answers is not searched. Calls
    `asked` for each request."""

    def __init__(
        self,
        owner: str,
        stores: Mapping[str, Search],
        *vacant: Vacant,
        asked: Callable[[], None] = lambda: None,
        graph: Graph | None = None,
    ) -> None:
        self._stores = stores
        self._graph = graph
        self._vacant = vacant
        self._asked = asked
        self.search = tracing.memory("search_memory", owner)(self._search)

    async def _search(self, principal: Principal, request: SearchRequest, deadline: Deadline) -> SearchResult:
        self._asked()
        triples, found = await asyncio.gather(
            self._triples(principal, request, deadline), self._found(principal, request, deadline)
        )
        found.graph = triples
        return found

    async def _triples(
        self, principal: Principal, request: SearchRequest, deadline: Deadline
    ) -> list[Triple] | None:
        if self._graph is None or GRAPH not in request.stores:
            return None
        return await self._graph(principal, request, request.stores[GRAPH], deadline)

    async def _found(self, principal: Principal, request: SearchRequest, deadline: Deadline) -> SearchResult:
        """Skips unknown stores: a caller of the next release may name them."""
        answers = await asyncio.gather(*(vacant(principal, request, deadline) for vacant in self._vacant))
        empty = {name: store for answer in answers for name, store in answer.items()}
        searches = [
            self._stores[name] for name in request.stores if name in self._stores.keys() - empty.keys()
        ]
        found = together(await asyncio.gather(*(search(principal, request, deadline) for search in searches)))
        found.stores |= empty
        return found
