"""Search over missions' entries: the public query, and the internal call of assembly."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

import asyncpg
from pgvector import HalfVector

from services.cache.missions import queries, queries_search
from services.cache.missions.entries import entry_of, entry_text, recency
from services.cache.missions.query_log import QueryLog
from services.cache.missions.schemas import CacheEntry, QueryCacheInput, QueryResult
from shared.auth import Principal
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.embeddings import Embedder, EmbedderUnavailable
from shared.provenance import utc
from shared.render import render_item
from shared.search.counts import CommonWords
from shared.search.evidence import (
    DEPTH,
    Candidate,
    SearchRequest,
    SearchResult,
    candidate_from_row,
    decode_vector,
    store_result,
)
from shared.search.relevance import Question, Scored, score
from shared.telemetry import tracing
from shared.tokens import estimate_tokens

STORE = "psychic_cache"
HANDLE = "cache"
# Of the time left, for the query's vector: when it is late, there must be time to search by text.
_EMBED_SHARE = 0.5


class CacheSearch:
    def __init__(self, database: Database, embedder: Embedder, log: QueryLog) -> None:
        self._database = database
        self._embedder = embedder
        self._log = log
        self._common = CommonWords()

    @tracing.memory("search_memory", "cache")
    async def query(self, principal: Principal, request: QueryCacheInput, deadline: Deadline) -> QueryResult:
        degraded: list[str] = []
        scopes = await self._scopes(principal, request.mission_id, deadline)
        vector = None
        try:
            patience = deadline.left() * _EMBED_SHARE
            vector = (await asyncio.wait_for(self._embedder.embed([request.query], "query"), patience))[0]
        except (EmbedderUnavailable, TimeoutError):
            degraded.append("embedder: searched by text only")

        async def look(c: Connection) -> tuple[list[asyncpg.Record], int, Any]:
            only = None
            if (
                request.context_types
                or request.tags
                or request.agent_name is not None
                or request.dispatch_id is not None
            ):
                only = await queries_search.ids_with(
                    c,
                    principal.tenant,
                    scopes,
                    request.context_types or None,
                    request.tags or None,
                    request.agent_name,
                    request.dispatch_id,
                    principal.seen_users(),
                )
            rows = await queries_search.search(
                c,
                principal.tenant,
                request.query,
                None if vector is None else HalfVector(vector),
                self._embedder.model,
                DEPTH,
                scopes,
                only,
                users=principal.seen_users(),
            )
            return rows, await queries_search.size(c, principal.tenant, scopes), await queries.now(c)

        rows, size, now = await self._database.run(look, deadline)
        result = _search_result(rows)
        by_id = {row["item_id"]: row for row in rows if row["item_id"] is not None}
        entries: list[CacheEntry] = []
        lines: list[str] = []
        left, taken = request.token_budget, set[int]()
        for scored, fresh in _ranked(score(Question(request.query, self._embedder.model), [result]), now):
            candidate = scored.candidate
            if candidate.id in taken:
                continue
            line = render_item(
                f"{HANDLE}:{candidate.id}",
                candidate.occurred_at or candidate.created_at,
                [candidate.kind, *([who] if (who := candidate.speaker or candidate.agent) else [])],
                candidate.text,
                now,
            )
            tokens = estimate_tokens(line + "\n")
            if tokens > left:
                continue
            left -= tokens
            taken.add(candidate.id)
            lines.append(line)
            entries.append(
                entry_of(by_id[candidate.id], relevance=round(scored.relevance, 4), recency=round(fresh, 4))
            )
        mission = None if request.mission_id == "*" else request.mission_id
        self._log.note(
            principal.tenant,
            mission,
            principal.agent,
            entries=len(entries),
            total_tokens=request.token_budget - left,
        )
        return QueryResult(
            context_block="\n".join(lines),
            entries=entries,
            total_tokens=request.token_budget - left,
            cache_size=size,
            degraded=degraded,
        )

    async def _scopes(self, principal: Principal, mission_id: str, deadline: Deadline) -> list[str]:
        """`*` is every mission that the key may read."""
        if mission_id != "*":
            principal.require_mission(mission_id)
            return [f"mission:{mission_id}"]
        missions = await self._database.run(
            lambda c: queries_search.mission_ids(c, principal.tenant, principal.seen_missions()), deadline
        )
        return [f"mission:{mission}" for mission in missions]

    @tracing.memory("search_memory", "cache")
    async def search(self, principal: Principal, request: SearchRequest, deadline: Deadline) -> SearchResult:
        scopes = request.stores.get(STORE, [])
        for scope in scopes:
            principal.require_scope(scope)
        vector = None if request.vector is None else HalfVector(decode_vector(request.vector))
        known = " ".join([principal.tenant, *scopes])
        common = self._common.get(known)
        time = utc(request.as_of, "as_of")
        users = principal.seen_users(request.user_id)

        async def look(c: Connection) -> list[asyncpg.Record]:
            until = None if time is None else await queries_search.last_by(c, principal.tenant, time)
            return await queries_search.search(
                c,
                principal.tenant,
                request.query,
                vector,
                request.model,
                request.depth,
                scopes,
                common=common,
                until=until,
                users=users,
            )

        result = _search_result(await self._database.run(look, deadline))
        if time is None:
            self._common.put(known, result.stores[STORE].documents, result.lexemes, result.stores[STORE].df)
        return result


def _ranked(found: Iterable[Scored], now: datetime) -> list[tuple[Scored, float]]:
    """By relevance and age, with what the age counts for."""
    weighed = [(one, recency(one.candidate.occurred_at or one.candidate.created_at, now)) for one in found]
    return sorted(weighed, key=lambda pair: -pair[0].relevance * pair[1])


def _search_result(rows: Sequence[asyncpg.Record]) -> SearchResult:
    return store_result(STORE, rows, _candidate)


def _candidate(row: asyncpg.Record) -> Candidate:
    text = entry_text(row["content"], row["kind"], row["metadata"])
    return candidate_from_row(row, text[row["start"] : row["stop"]])
