"""What is kept for users as a store of assembled context."""

from __future__ import annotations

from typing import Any

from services.cache.persistent.indexing import STORE
from services.cache.persistent.queries_search import HOLDINGS, SEARCH, STATED
from shared.auth import Principal
from shared.database.postgres import Database
from shared.deadline import Deadline
from shared.search.evidence import Candidate, SearchRequest, SearchResult, StoreResult
from shared.search.store import Scope, StoreSearch, store_query
from shared.states.comparing import StoreStates


class PersistentSearch:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._store = StoreSearch(database, STORE, SEARCH, candidate_of)

    async def search(self, principal: Principal, request: SearchRequest, deadline: Deadline) -> SearchResult:
        """Of users for whom nothing is kept, one look is all that it costs. Raises Forbidden for another's scope."""
        scopes = request.stores[STORE]
        for scope in scopes:
            principal.require_scope(scope)
        query = store_query(principal, request)
        rows = await self._database.look(principal.tenant, HOLDINGS, [scopes], deadline)
        items = {row["scope"]: row["items"] for row in rows}
        held = [scope for scope in scopes if items[scope]]
        if not held:
            return SearchResult(lexemes=[], stores={STORE: StoreResult.of_nothing(scopes)})
        result = await self._store.search(query, Scope(principal.tenant, held, indexed_as=held), deadline)
        result.stores[STORE].items = items
        return result


def states(database: Database) -> StoreStates:
    return StoreStates(database, STATED, candidate_of)


def candidate_of(row: Any) -> Candidate:
    return Candidate(
        id=row["item_id"],
        scope=row["scope"],
        kind=row["object_type"],
        text=row["passage"],
        created_at=row["created_at"],
        chunk=row["chunk"],
        chunks=row["chunks"],
        words=row["words"],
        cosine=row["cosine"],
        places=row["places"] or [],
        tf=row["tfs"] or [],
        agent=row["agent_name"],
        user_id=row["user_id"],
        source_kind=row["source_kind"],
        confirmed_at=row["last_reinforced"],
        confidence=row["confidence"],
    )
