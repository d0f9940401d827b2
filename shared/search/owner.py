"""An owner's internal search over the stores that a request names."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

from shared.auth import Principal
from shared.deadline import Deadline
from shared.search.evidence import SearchRequest, SearchResult, StoreResult, together
from shared.telemetry import tracing

Search: TypeAlias = Callable[[Principal, SearchRequest, Deadline], Awaitable[SearchResult]]
Vacant: TypeAlias = Callable[[Principal, SearchRequest, Deadline], Awaitable[Mapping[str, StoreResult]]]
"""The results of those of the request's stores that are known to hold nothing."""


class OwnerSearch:
    """`stores` maps a store's name in the request to its search. What one of `vacant` answers is not searched. Calls
    `asked` for each request."""

    def __init__(
        self,
        owner: str,
        stores: Mapping[str, Search],
        *vacant: Vacant,
        asked: Callable[[], None] = lambda: None,
    ) -> None:
        self._stores = stores
        self._vacant = vacant
        self._asked = asked
        self.search = tracing.memory("search_memory", owner)(self._search)

    async def _search(self, principal: Principal, request: SearchRequest, deadline: Deadline) -> SearchResult:
        """Skips unknown stores: a caller of the next release may name them."""
        self._asked()
        answers = await asyncio.gather(*(vacant(principal, request, deadline) for vacant in self._vacant))
        empty = {name: store for answer in answers for name, store in answer.items()}
        searches = [
            self._stores[name] for name in request.stores if name in self._stores.keys() - empty.keys()
        ]
        found = together(await asyncio.gather(*(search(principal, request, deadline) for search in searches)))
        found.stores |= empty
        return found
