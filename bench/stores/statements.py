"""The statements of one assemble over all stores, each run alone."""

from __future__ import annotations

import time
from collections.abc import Mapping
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

import asyncpg
import numpy as np
from numpy.typing import NDArray
from pgvector import HalfVector
from pgvector.asyncpg import register_vector

from bench.stores.data import CALLER, TENANT, USER
from services.agent_memory.facts.graph import names, runs
from services.agent_memory.facts.queries import Bounds
from services.agent_memory.facts.queries_graph import Asked, facts_of
from services.agent_memory.facts.words import patterns
from services.agent_memory.long_term import queries_search as long_term
from services.agent_memory.memories import queries_search as memories
from services.agent_memory.vault import queries_search as vault
from services.agent_memory.vault.folders import SHARED, UNBOUND
from services.cache.entries import queries_search as entries
from shared.search.counts import EXACT_UP_TO, HNSW_SETTINGS, CommonWords, SampledWords, ScopeCounts
from shared.search.sql import Forms, search
from shared.search.store import Scope, StoreQuery

_SCOPES = [f"mission:{CALLER}", f"agent:{CALLER}", f"user:{USER}", SHARED]
_SEARCHES: Mapping[str, tuple[str, Forms, Scope]] = {
    "own": ("agent_memory", memories.SEARCH_OWN, memories.own_scope(TENANT, CALLER)),
    "peers": ("agent_memory", memories.SEARCH_PEERS, memories.peers_scope(TENANT, CALLER)),
    "entries": ("cache", entries.SEARCH, entries.missions_scope(TENANT, _SCOPES[:1])),
    "memory": ("agent_memory", long_term.SEARCH, long_term.scope_of(TENANT, _SCOPES)),
    "vault": ("agent_memory", vault.SEARCH, vault.folders_scope(TENANT, [*_SCOPES, UNBOUND])),
}


class Alone:
    """Runs each statement as its owner does: with what searches before have learned, and peers through HNSW."""

    def __init__(self, connections: Mapping[str, asyncpg.Connection[Any]], model: str) -> None:
        self._connections = connections
        self._model = model
        self._counts = ScopeCounts()
        self._common = CommonWords()
        self._sampled = SampledWords()

    async def run(self, query: str, vector: NDArray[np.float32]) -> dict[str, float]:
        """The milliseconds of each."""
        asking = StoreQuery(query=query, vector=HalfVector(vector), model=self._model, users=[USER])
        spent = {name: await self._search(asking, *each) for name, each in _SEARCHES.items()}
        words = query.rstrip("?").split()
        asked = Asked(
            scopes=_SCOPES,
            user_id=USER,
            as_of=None,
            aliases=list(dict.fromkeys(names(words))),
            runs=list(dict.fromkeys(runs(words))),
            words=patterns(query),
        )
        seen = Bounds(users=[USER], missions=None, agent=None, folders=None)
        started = time.perf_counter()
        await facts_of(self._connections["agent_memory"], TENANT, seen, asked)
        return spent | {"graph": _since(started)}

    async def _search(self, asking: StoreQuery, service: str, forms: Forms, scope: Scope) -> float:
        known, connection = self._counts.last(scope.name), self._connections[service]
        large = scope.indexed_as == [memories.EVERY_AGENT] and (known or 0) > EXACT_UP_TO
        common = self._common.get(scope.name)
        if large:
            common = await self._sampled.get(
                scope.name, partial(memories.common_among_peers, connection, scope, known or 0)
            )
        values = asking.values(scope, None, known, common)
        async with connection.transaction():
            for name, value in HNSW_SETTINGS.items() if large else ():
                await connection.execute("select set_config($1, $2, true)", name, value)
            started = time.perf_counter()
            first, *_ = await search(connection, forms, values, approximate=large)
            spent = _since(started)
        self._counts.put(scope.name, first["documents"])
        self._common.put(scope.name, first["documents"], first["lexemes"], first["df"])
        return spent


async def connected(stack: AsyncExitStack, dsns: Mapping[str, str], model: str) -> Alone:
    settings = {"scrubjay.tenant": TENANT, "statement_timeout": "60s"}
    connections = {}
    for name in ("cache", "agent_memory"):
        connection = await asyncpg.connect(dsns[name], server_settings=settings)
        stack.push_async_callback(connection.close)
        await register_vector(connection)
        connections[name] = connection
    return Alone(connections, model)


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1000
