"""Searches memories: an agent's own, one peer's, and for assembly."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import asyncpg
import msgspec

from services.agent_memory.chunk_words import text_of
from services.agent_memory.memories import queries_search, ranking
from services.agent_memory.memories.queries_background import few
from services.agent_memory.memories.queries_search import EVERY_AGENT, MemoryFilter, own_scope, peers_scope
from services.agent_memory.memories.schemas import (
    FoundMemories,
    FoundMemory,
    QueryAgentMemoryInput,
    QueryPeerMemoryInput,
)
from services.agent_memory.vacancy import PEER, Vacancies
from services.agent_memory.vector_index.service import VectorIndex
from shared.auth import Principal
from shared.database.postgres import Database
from shared.deadline import Deadline
from shared.embeddings import CachedEmbedder
from shared.errors import Invalid
from shared.provenance import utc
from shared.search.evidence import Candidate, SearchRequest, SearchResult, StoreResult, candidate_from_row
from shared.search.experience import experienced
from shared.search.hot.kept import KeptRows
from shared.search.hot.scopes import HotScopes
from shared.search.hot.search import MOST_CODED, HotStore
from shared.search.question import EMBED_SHARE, query_vector
from shared.search.relevance import Question, Scored, score
from shared.search.store import Hnsw, StoreQuery, StoreSearch, store_query, tenants_language
from shared.states.comparing import StoreStates
from shared.telemetry import tracing
from shared.validation.values import MISSING

OWN = "agent_memory_own"


class MemorySearch:
    def __init__(
        self,
        database: Database,
        embedder: CachedEmbedder,
        count_accesses: Callable[[str, Sequence[int]], None],
        hot_scopes: HotScopes,
        vector_index: VectorIndex,
        vacancies: Vacancies,
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._count_accesses = count_accesses
        self._vacancies = vacancies
        kept = KeptRows()
        own = HotStore(database, hot_scopes, OWN, queries_search.HOT_OWN, kept=kept, most_coded=MOST_CODED)
        peer = HotStore(database, hot_scopes, PEER, queries_search.HOT_PEER, kept=kept)
        peers = HotStore(
            database,
            hot_scopes,
            PEER,
            queries_search.HOT_PEERS,
            kept=kept,
            most_coded=MOST_CODED,
            excludes=True,
        )
        self._own = StoreSearch(
            database, OWN, queries_search.SEARCH_OWN, _candidate, hot=own, complete=_add_experience
        )
        self._peer = StoreSearch(database, PEER, queries_search.SEARCH_PEER, _candidate, hot=peer)
        self._peers = StoreSearch(
            database,
            PEER,
            queries_search.SEARCH_PEERS,
            _candidate,
            Hnsw(queries_search.count_peers, queries_search.common_among_peers, vector_index.covers),
            peers,
        )

    @tracing.memory("search_memory", "agent_memory")
    async def query(
        self, principal: Principal, request: QueryAgentMemoryInput, deadline: Deadline
    ) -> FoundMemories:
        """An agent's own memories, the most relevant first. This counts as an access."""
        principal.require_agent(request.agent_name)
        answer = await self._query(
            self._own, principal, request.agent_name, request, _filter(request), deadline
        )
        self._count_accesses(principal.tenant, [memory.id for memory in answer.memories])
        return answer

    @tracing.memory("search_memory", "agent_memory")
    async def query_peer(
        self, principal: Principal, request: QueryPeerMemoryInput, deadline: Deadline
    ) -> FoundMemories:
        """Another agent's memories that are not private. This does not count as an access."""
        return await self._query(
            self._peer, principal, request.target_agent, request, _filter(request), deadline
        )

    async def _query(
        self,
        store: StoreSearch,
        principal: Principal,
        agent: str,
        request: QueryAgentMemoryInput | QueryPeerMemoryInput,
        wanted: MemoryFilter,
        deadline: Deadline,
    ) -> FoundMemories:
        embedded = await query_vector(
            self._embedder, principal.tenant, request.query, deadline.left() * EMBED_SHARE
        )
        only = None
        if not wanted.empty:
            only = await self._database.run(
                principal.tenant,
                lambda c: queries_search.ids_with(c, principal.tenant, agent, wanted),
                deadline,
            )
        query = StoreQuery(
            query=request.query,
            language=request.language,
            likely=tenants_language(principal),
            vector=embedded.half(),
            model=embedded.model,
            only=only,
            users=principal.seen_users(),
            missions=principal.seen_missions(),
            reader=principal.agent,
        )
        found = await store.found(query, own_scope(principal.tenant, agent), deadline)
        scored = score(Question(request.query, embedded.model, embedded.band), [found.evidence])
        memories = _memories(scored, found.rows, request.limit)
        return FoundMemories(memories=memories, degraded=embedded.degraded())

    async def search_own(
        self, principal: Principal, request: SearchRequest, deadline: Deadline
    ) -> SearchResult:
        """For assembly: memories of `request.agent`, with the background that the request asks for."""
        agent = _agent(principal, request)
        result, background = await asyncio.gather(
            self._own.search(_store_query(principal, request), own_scope(principal.tenant, agent), deadline),
            self._background(principal, request, agent, deadline),
        )
        found = result.stores[OWN]
        found.background = background
        self._vacancies.learn(principal.tenant, OWN, agent, found=found.documents > 0)
        return result

    async def _background(
        self, principal: Principal, request: SearchRequest, agent: str, deadline: Deadline
    ) -> list[Candidate]:
        tokens, as_of = request.background, utc(request.as_of, "as_of")
        if tokens is None:
            return []
        rows = await self._database.run(
            principal.tenant,
            lambda c: few(c, principal, agent, request.user_id, as_of=as_of, tokens=tokens),
            deadline,
        )
        return [_whole(row) for row in rows]

    async def search_peers(
        self, principal: Principal, request: SearchRequest, deadline: Deadline
    ) -> SearchResult:
        """For assembly: what everyone but `request.agent` shares. Counts the items of agents that are named, too."""
        tenant, agent = principal.tenant, _agent(principal, request)
        scope = peers_scope(tenant, agent)
        named = _named(request, agent)
        result = await self._peers.search(_store_query(principal, request), scope, deadline)
        found = result.stores[PEER]
        found.items = {f"agent:{EVERY_AGENT}": found.documents}
        if named:
            found.items |= await self._database.run(
                tenant, lambda c: queries_search.count_of_agents(c, tenant, named), deadline
            )
        return result


def _filter(request: QueryAgentMemoryInput | QueryPeerMemoryInput) -> MemoryFilter:
    return MemoryFilter(request.memory_type, utc(request.since, "since"), utc(request.until, "until"))


def _store_query(principal: Principal, request: SearchRequest) -> StoreQuery:
    query = store_query(principal, request)
    return msgspec.structs.replace(query, missions=principal.seen_missions(), reader=principal.agent)


def _named(request: SearchRequest, agent: str) -> list[str]:
    """The scopes of other agents whose items the search counts."""
    return [name for name in request.stores[PEER] if name != f"agent:{agent}"]


def nothing_own(principal: Principal, request: SearchRequest) -> StoreResult:
    agent = _agent(principal, request)
    _store_query(principal, request)
    return StoreResult.of_nothing([f"agent:{agent}"])


def nothing_of_peers(principal: Principal, request: SearchRequest) -> StoreResult:
    agent = _agent(principal, request)
    _store_query(principal, request)
    return StoreResult.of_nothing([f"agent:{EVERY_AGENT}", *_named(request, agent)])


def _agent(principal: Principal, request: SearchRequest) -> str:
    if request.agent is None:
        raise Invalid.field("agent", MISSING)
    principal.require_agent(request.agent)
    return request.agent


def _memories(scored: Iterable[Scored], rows: Mapping[int, Any], limit: int) -> list[FoundMemory]:
    """The first of them, each once, with its best chunk, ordered by relevance and experience."""
    best: dict[int, Scored] = {}
    for each in scored:
        best.setdefault(each.candidate.id, each)

    experiences = {key: each.candidate.composite or _experience(rows[key]) for key, each in best.items()}

    def rank(each: Scored) -> float:
        return experienced(each.relevance, experiences[each.candidate.id])

    ordered = sorted(best.values(), key=rank, reverse=True)[:limit]
    return [_found(rows[each.candidate.id], each, experiences[each.candidate.id]) for each in ordered]


def states_of_own(database: Database) -> StoreStates:
    return StoreStates(
        database, queries_search.STATED, _candidate, lambda agent, row: row["agent_name"] == agent
    )


def states_of_peers(database: Database) -> StoreStates:
    return StoreStates(database, queries_search.STATED, _candidate, lambda agent, row: not row["private"])


def _candidate(row: asyncpg.Record) -> Candidate:
    return candidate_from_row(
        row,
        text_of(row),
        confirmed_at=row["confirmed_at"],
        step=row["step"],
        step_is_stated=row["step"] is not None,
    )


def _whole(row: asyncpg.Record) -> Candidate:
    return Candidate(
        id=row["id"],
        scope=row["scope"],
        kind=row["memory_type"],
        text=row["content"],
        created_at=row["created_at"],
        agent=row["agent_name"],
        speaker=row["speaker"],
        session_id=row["session_id"],
        seq=row["seq"],
        occurred_at=row["occurred_at"],
        user_id=row["user_id"],
        source_kind=row["source_kind"],
        source_claim=row["source_claim"],
        superseded_by=row["superseded_by"],
        labels=["background"],
    )


def _add_experience(candidate: Candidate, row: Any) -> None:
    candidate.composite = _experience(row)


def _experience(row: Any) -> dict[str, float]:
    """A peer's memory shows no accesses."""
    return {
        "access": ranking.access_boost(row["access_count"], row.get("most_accessed") or 0),
        "outcome": ranking.outcome_boost(row["outcome"]),
    }


def _found(row: Any, scored: Scored, experience: Mapping[str, float]) -> FoundMemory:
    candidate = scored.candidate
    parts = {"relevance": round(scored.relevance, 4), **experience}
    return FoundMemory.from_row(
        row,
        id=candidate.id,
        memory_type=candidate.kind,
        content=candidate.text,
        score=round(ranking.composite(**parts), 4),
        score_parts=parts,
        **(
            {"truncated": True, "chunk": candidate.chunk, "chunks": candidate.chunks}
            if candidate.chunks > 1
            else {}
        ),
    )
