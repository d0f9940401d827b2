"""The objects of a session as a store of assembled context: what the agent no longer sees whole."""

from __future__ import annotations

from typing import Any

import msgspec

from services.cache.sessions import queries as session_queries
from services.cache.sessions.access import Reach, as_uuid
from services.cache.sessions.search import queries
from services.cache.sessions.search.indexing import STORE
from services.cache.sessions.search.queries import session_scope
from services.cache.sessions.search.schemas import NumberedObject
from services.cache.sessions.search.service import candidate_of
from shared.auth import Principal
from shared.database.postgres import Database
from shared.deadline import Deadline
from shared.errors import NotFound
from shared.search.evidence import SearchRequest, SearchResult, StoreResult
from shared.search.store import StoreSearch, store_query
from shared.states.comparing import StoreStates


class AssemblySearch:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._shrunk = StoreSearch(database, STORE, queries.SEARCH_SHRUNK, candidate_of)
        self._all = StoreSearch(database, STORE, queries.SEARCH, candidate_of)

    async def search(self, principal: Principal, request: SearchRequest, deadline: Deadline) -> SearchResult:
        """Of a session that the key does not reach, or that holds nothing, one look is all that it costs."""
        query = store_query(principal, request)
        reach = Reach.of(principal)._replace(users=query.users)
        name = next(iter(request.stores[STORE]), "")
        session = await self._look(principal.tenant, reach, name.partition(":")[2], deadline)
        if session is None:
            return _nothing()
        if not session["total_objects"]:
            return _nothing(name)
        # Whoever reaches the session sees all that it holds.
        query = msgspec.structs.replace(query, users=None)
        store = self._all if request.whole else self._shrunk
        result = await store.search(query, session_scope(principal.tenant, session["id"]), deadline)
        return _of_session(result, session, name)

    async def _look(self, tenant: str, reach: Reach, name: str, deadline: Deadline) -> Any:
        rows = await self._database.look(
            tenant, session_queries.NAMED_SESSION, [*reach, as_uuid(name), name], deadline
        )
        return rows[0] if rows else None

    async def numbered(self, principal: Principal, number: int, deadline: Deadline) -> NumberedObject:
        """Raises NotFound for an object of a session that the key does not reach."""
        reach = Reach.of(principal)
        row = await self._database.run(
            principal.tenant, lambda c: queries.numbered(c, principal.tenant, reach, number), deadline
        )
        if row is None:
            raise NotFound(f"no object {number}")
        return NumberedObject(**row)


def states(database: Database) -> StoreStates:
    return StoreStates(database, queries.STATED, candidate_of)


def _nothing(*scopes: str) -> SearchResult:
    return SearchResult(lexemes=[], stores={STORE: StoreResult.of_nothing(scopes)})


def _of_session(result: SearchResult, session: Any, name: str) -> SearchResult:
    """Each candidate belongs to whom the session belongs to. The request knows the session as `name`."""
    found = result.stores[STORE]
    found.items = {name: session["total_objects"]}
    for candidate in found.candidates:
        candidate.scope = session["scope"]
        candidate.user_id = session["user_id"]
        candidate.agent = session["agent_name"]
        candidate.session_id = session["external_id"]
    return result
