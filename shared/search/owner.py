"""An owner's internal search over the stores that a request names."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import msgspec

from shared.auth import Principal
from shared.deadline import Deadline
from shared.search.evidence import GRAPH, NEAR, SearchRequest, SearchResult, StoreResult, Triple, together
from shared.telemetry import tracing

Search: TypeAlias = Callable[[Principal, SearchRequest, Deadline], Awaitable[SearchResult]]
Empty: TypeAlias = Callable[[Principal, SearchRequest, Deadline], Awaitable[Collection[str]]]
"""Those of the request's stores that hold nothing."""
Graph: TypeAlias = Callable[[Principal, SearchRequest, Sequence[str], Deadline], Awaitable[list[Triple]]]
"""The facts of the question's entities, in the scopes."""


class Vacancy(NamedTuple):
    """Tells which stores need no search. `nothing` is what the search of an empty store would find, or its refusal."""

    empty: Empty
    nothing: Mapping[str, Callable[[Principal, SearchRequest], StoreResult]]


class OwnerSearch:
    """`stores` maps a store's name in the request to its search. Calls `asked` for each request."""

    def __init__(
        self,
        owner: str,
        stores: Mapping[str, Search],
        *,
        vacancy: Vacancy | None = None,
        asked: Callable[[], None] = lambda: None,
        graph: Graph | None = None,
    ) -> None:
        self._stores = stores
        self._graph = graph
        self._vacancy = vacancy
        self._asked = asked
        self.search = tracing.memory("search_memory", owner)(self._search)

    async def _search(self, principal: Principal, request: SearchRequest, deadline: Deadline) -> SearchResult:
        self._asked()
        empty = await self._empty(principal, request, deadline)
        triples, found, near = await asyncio.gather(
            self._triples(principal, request, empty, deadline),
            self._found(principal, request, empty, deadline),
            self._near(principal, request, empty, deadline),
        )
        found.graph = triples
        found.stores |= {f"{NEAR}{name}": store for name, store in near.stores.items()}
        found.lexemes = found.lexemes or near.lexemes
        return found

    async def _empty(
        self, principal: Principal, request: SearchRequest, deadline: Deadline
    ) -> Collection[str]:
        return () if self._vacancy is None else await self._vacancy.empty(principal, request, deadline)

    async def _triples(
        self, principal: Principal, request: SearchRequest, empty: Collection[str], deadline: Deadline
    ) -> list[Triple] | None:
        if self._graph is None or GRAPH not in request.stores:
            return None
        if GRAPH in empty:
            return []
        return await self._graph(principal, request, request.stores[GRAPH], deadline)

    async def _near(
        self, principal: Principal, request: SearchRequest, empty: Collection[str], deadline: Deadline
    ) -> SearchResult:
        """What the scopes of neighbours hold is searched apart: it takes no place of what the request's scopes hold."""
        scopes = {
            name.removeprefix(NEAR): scopes
            for name, scopes in request.stores.items()
            if name.startswith(NEAR)
        }
        if not scopes:
            return SearchResult(lexemes=[], stores={})
        near = msgspec.structs.replace(request, stores=scopes, background=None)
        return await self._found(principal, near, scopes.keys() & {*empty}, deadline)

    async def _found(
        self, principal: Principal, request: SearchRequest, empty: Collection[str], deadline: Deadline
    ) -> SearchResult:
        """Skips unknown stores: a caller of the next release may name them."""
        nothing = {} if self._vacancy is None else self._vacancy.nothing
        vacant = {name: nothing[name](principal, request) for name in nothing.keys() & empty}
        searches = [
            self._stores[name] for name in request.stores if name in self._stores.keys() - vacant.keys()
        ]
        found = together(await asyncio.gather(*(search(principal, request, deadline) for search in searches)))
        found.stores |= vacant
        return found
