"""Finds the stores that hold nothing, which are most stores of most tenants. Includes the SQL."""

from __future__ import annotations

from shared.auth import Principal
from shared.database.postgres import Database
from shared.database.tenancy import look
from shared.deadline import Deadline
from shared.search.evidence import SearchRequest

_MOST = 20_000
PEER = "agent_memory_peer"

# Each column has the name of a store in a request. An agent has its own memories and peers, a tenant everything else.
# The least value stands in an index. To see whether a row exists, Postgres may read a whole table in which few tenants
# have much.
HOLDINGS = """
select (select min(created_at) from memory.agent_memory where tenant = $1 and agent_name = $2) is not null
           as agent_memory_own,
       coalesce((select min(agent_name) from memory.agent_memory where tenant = $1) <> $2
                or (select max(agent_name) from memory.agent_memory where tenant = $1) <> $2, false)
           as agent_memory_peer,
       (select min(id) from memory.long_term where tenant = $1) is not null as memory,
       (select min(id) from memory.files where tenant = $1) is not null as vault_index,
       (select min(id) from memory.facts where tenant = $1) is not null as graph
"""
_LOOK = look(HOLDINGS)


_Key = tuple[str, str, str | None]
"""A tenant, a store, and the agent in a store in which each agent has its own, or other peers."""


class Vacancies:
    """The stores that held nothing when they were last searched, or asked about.

    Before a search is left out, Postgres says whether the store still holds nothing: a write that committed before the
    search is never missed. One query asks about all stores of a request. Of a store that once held something, nothing
    is asked: its scopes may be empty, so it is searched.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._empty: set[_Key] = set()
        self._held: set[_Key] = set()

    def learn(self, tenant: str, store: str, agent: str | None = None, *, found: bool) -> None:
        """Whether a search found anything to search."""
        key = (tenant, store, agent)
        if found:
            self._hold(key)
        elif key not in self._held:
            _add(self._empty, key)

    async def empty(self, principal: Principal, request: SearchRequest, deadline: Deadline) -> frozenset[str]:
        """The stores of the request that hold nothing now, of those that held nothing before."""
        before = self._before(principal.tenant, request)
        if not before:
            return frozenset()
        (holds,) = await self._database.look(principal.tenant, _LOOK, [request.agent], deadline)
        for store, key in before.items():
            if holds[store]:
                self._hold(key)
        return frozenset(store for store in before if not holds[store])

    def _before(self, tenant: str, request: SearchRequest) -> dict[str, _Key]:
        keys = ((tenant, store, agent) for store in request.stores for agent in (None, request.agent))
        return {key[1]: key for key in keys if key in self._empty or self._is_asked_first(key)}

    def _is_asked_first(self, key: _Key) -> bool:
        """A search of peers does not tell that there are none: it counts a tenant's memories, also its only agent's."""
        _, store, agent = key
        return store == PEER and agent is not None and key not in self._held

    def _hold(self, key: _Key) -> None:
        self._empty.discard(key)
        _add(self._held, key)


def _add(keys: set[_Key], key: _Key) -> None:
    if len(keys) >= _MOST:
        keys.clear()
    keys.add(key)
