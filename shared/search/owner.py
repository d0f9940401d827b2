"""An owner's internal search over the stores that a request names."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

from shared.auth import Principal
from shared.deadline import Deadline
from shared.search.evidence import SearchRequest, SearchResult, together
from shared.telemetry import tracing

Search: TypeAlias = Callable[[Principal, SearchRequest, Deadline], Awaitable[SearchResult]]


class OwnerSearch:
    """`stores` maps a store's name in the request to its search."""

    def __init__(self, owner: str, stores: Mapping[str, Search]) -> None:
        self._stores = stores
        self.search = tracing.memory("search_memory", owner)(self._search)

    async def _search(self, principal: Principal, request: SearchRequest, deadline: Deadline) -> SearchResult:
        """Skips unknown stores: a caller of the next release may name them."""
        searches = [self._stores[name] for name in request.stores if name in self._stores]
        return together(await asyncio.gather(*(search(principal, request, deadline) for search in searches)))
