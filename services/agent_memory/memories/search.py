"""Search over memories: an agent's own and its peers', and the internal call of assembly."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import asyncpg
import msgspec
from pgvector import HalfVector

from services.agent_memory.memories import queries_search as queries
from services.agent_memory.memories import ranking
from services.agent_memory.memories.queries_search import Look
from services.agent_memory.memories.schemas import (
    AgentMemory,
    FoundMemories,
    FoundMemory,
    MemoryType,
    QueryAgentMemoryInput,
    QueryPeerMemoryInput,
)
from shared.auth import Principal
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.embeddings import Embedder, EmbedderUnavailable
from shared.provenance import utc
from shared.search.counts import EXACT_UP_TO, HNSW_SETTINGS, CommonWords, ScopeCounts
from shared.search.evidence import (
    DEPTH,
    Candidate,
    SearchRequest,
    SearchResult,
    candidate_from_row,
    decode_vector,
    store_result,
)
from shared.search.relevance import Question, score
from shared.telemetry import tracing

OWN = "agent_memory_own"
PEER = "agent_memory_peer"
# Of the time left, for the query's vector: when it is late, there must be time to search by text.
_EMBED_SHARE = 0.5


class MemorySearch:
    def __init__(
        self, database: Database, embedder: Embedder, count_accesses: Callable[[str, Sequence[int]], None]
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._count_accesses = count_accesses
        self._counts = ScopeCounts()
        self._common = CommonWords()

    @tracing.memory("search_memory", "agent_memory")
    async def query(
        self, principal: Principal, request: QueryAgentMemoryInput, deadline: Deadline
    ) -> FoundMemories:
        """An agent's own memories by composite score. Reading counts as an access."""
        principal.require_agent(request.agent_name)
        found = await self._find(
            principal, queries.search_own, request.agent_name, request.query, request.memory_type, deadline
        )
        del found.memories[request.limit :]
        self._count_accesses(principal.tenant, [memory.id for memory in found.memories])
        return found

    @tracing.memory("search_memory", "agent_memory")
    async def query_peer(
        self, principal: Principal, request: QueryPeerMemoryInput, deadline: Deadline
    ) -> FoundMemories:
        """One other agent's memories that are not private. Leaves its access counts alone."""
        found = await self._find(
            principal, queries.search_peer, request.target_agent, request.query, request.memory_type, deadline
        )
        del found.memories[request.limit :]
        return found

    async def _find(
        self,
        principal: Principal,
        search: Any,
        agent_name: str,
        query: str,
        memory_type: MemoryType | None,
        deadline: Deadline,
    ) -> FoundMemories:
        degraded: list[str] = []
        vector = None
        try:
            patience = deadline.left() * _EMBED_SHARE
            embedded = await asyncio.wait_for(self._embedder.embed([query], "query"), patience)
            vector = HalfVector(embedded[0])
        except (EmbedderUnavailable, TimeoutError):
            degraded.append("embedder: searched by text only")

        async def look(c: Connection) -> list[asyncpg.Record]:
            only = None
            if memory_type is not None:
                only = await queries.ids_of_type(c, principal.tenant, agent_name, memory_type)
            model, users = self._embedder.model, principal.seen_users()
            wanted = Look(principal.tenant, query, vector, model, DEPTH, only, users=users)
            rows: list[asyncpg.Record] = await search(c, wanted, agent_name)
            return rows

        rows = await self._database.run(look, deadline)
        by_id = {row["item_id"]: row for row in rows if row["item_id"] is not None}
        memories: dict[int, FoundMemory] = {}
        for scored in score(Question(query, self._embedder.model), [store_result(OWN, rows, _candidate)]):
            if scored.candidate.id not in memories:
                memories[scored.candidate.id] = _found(by_id[scored.candidate.id], scored.relevance)
        best = sorted(memories.values(), key=lambda memory: -memory.score)
        return FoundMemories(memories=best, degraded=degraded)

    @tracing.memory("search_memory", "agent_memory")
    async def search(self, principal: Principal, request: SearchRequest, deadline: Deadline) -> SearchResult:
        """Own and peers' memories of `request.agent`, by the stores asked for."""
        assert request.agent is not None
        principal.require_agent(request.agent)
        agent, users = request.agent, principal.seen_users(request.user_id)
        vector = None if request.vector is None else HalfVector(decode_vector(request.vector))
        until = None
        if (time := utc(request.as_of, "as_of")) is not None:
            until = await self._database.run(lambda c: queries.last_by(c, principal.tenant, time), deadline)
        wanted = Look(
            *(principal.tenant, request.query, vector, request.model, request.depth), until=until, users=users
        )
        looks = []
        if OWN in request.stores:
            looks.append(self._search_own(wanted, agent, deadline))
        if PEER in request.stores:
            looks.append(self._search_peers(wanted, agent, deadline))
        results = await asyncio.gather(*looks)
        stores = {name: one for result in results for name, one in result.stores.items()}
        return SearchResult(lexemes=results[0].lexemes if results else [], stores=stores)

    async def _search_own(self, wanted: Look, agent: str, deadline: Deadline) -> SearchResult:
        scope = f"{wanted.tenant}/{agent}"
        look = msgspec.structs.replace(wanted, common=self._common.get(scope))
        rows = await self._database.run(lambda c: queries.search_own(c, look, agent), deadline)
        return self._noted(scope, look, store_result(OWN, rows, _own_candidate))

    async def _search_peers(self, wanted: Look, agent: str, deadline: Deadline) -> SearchResult:
        tenant = wanted.tenant
        known = await self._count_peers(tenant, deadline)
        look = msgspec.structs.replace(wanted, documents=known, common=self._common.get(tenant))
        last = self._counts.last(tenant)
        if last is not None and last > EXACT_UP_TO:
            rows = await self._database.transaction(
                lambda c: queries.search_peers(c, look, agent, approximate=True),
                deadline,
                settings=HNSW_SETTINGS,
            )
        else:
            rows = await self._database.run(lambda c: queries.search_peers(c, look, agent), deadline)
        if known is None:
            self._counts.put(tenant, rows[0]["documents"])
        return self._noted(tenant, look, store_result(PEER, rows, _candidate))

    def _noted(self, scope: str, look: Look, result: SearchResult) -> SearchResult:
        """Which of the words were common, for the next search of the whole scope."""
        for one in result.stores.values() if look.until is None else ():
            self._common.put(scope, one.documents, result.lexemes, one.df)
        return result

    async def _count_peers(self, tenant: str, deadline: Deadline) -> int | None:
        """What is known, or None where the search counts; before a tenant's first, to choose its form."""
        if self._counts.last(tenant) is None:
            count = await self._database.run(lambda c: queries.count_peers(c, tenant), deadline)
            self._counts.put(tenant, count)
        return self._counts.get(tenant)


def _candidate(row: asyncpg.Record) -> Candidate:
    return candidate_from_row(row, row["content"][row["start"] : row["stop"]])


def _own_candidate(row: asyncpg.Record) -> Candidate:
    candidate = _candidate(row)
    candidate.composite = {
        "access": ranking.access_boost(row["access_count"], row["most_accessed"] or 0),
        "outcome": ranking.outcome_boost(row["outcome"]),
    }
    return candidate


_FIELDS = [field for field in AgentMemory.__struct_fields__ if field not in ("id", "memory_type")]


def _found(row: asyncpg.Record, relevance: float) -> FoundMemory:
    parts = {
        "relevance": round(relevance, 4),
        "access": ranking.access_boost(row["access_count"], row.get("most_accessed") or 0),
        "outcome": ranking.outcome_boost(row["outcome"]),
    }
    return FoundMemory(
        id=row["item_id"],
        memory_type=row["kind"],
        score=round(ranking.composite(**parts), 4),
        score_parts=parts,
        **{field: row[field] for field in _FIELDS},
    )
