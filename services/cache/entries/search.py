"""Searches missions' entries, for the public query and for assembly."""

from __future__ import annotations

import time

import asyncpg
import msgspec

from services.cache.entries import queries_search
from services.cache.entries.block import block, ranked
from services.cache.entries.queries import EntryFilter, entry_filter
from services.cache.entries.queries_search import missions_scope
from services.cache.entries.query_log import QueryLog
from services.cache.entries.schemas import Dropped, QueryCacheInput, QueryResult
from services.cache.entries.text import entry_text, header_labels
from services.cache.missions.languages import Languages
from shared.auth import Principal
from shared.concurrency import clock
from shared.database.postgres import Database
from shared.deadline import Deadline
from shared.embeddings import CachedEmbedder
from shared.reading.excerpts import Wanted
from shared.render import new_fence
from shared.search.evidence import Candidate, SearchRequest, SearchResult, candidate_from_row
from shared.search.hot.kept import KeptRows
from shared.search.hot.scopes import HotScopes
from shared.search.hot.search import HotStore
from shared.search.question import EMBED_SHARE, query_vector
from shared.search.relevance import Question, lexeme_weights, score
from shared.search.steps import step_of
from shared.search.store import Found, Scope, StoreQuery, StoreSearch, store_query, tenants_language
from shared.states.comparing import StoreStates
from shared.telemetry import tracing
from shared.text import Language

STORE = "psychic_cache"


class CacheSearch:
    def __init__(
        self,
        database: Database,
        embedder: CachedEmbedder,
        log: QueryLog,
        languages: Languages,
        hot_scopes: HotScopes,
    ) -> None:
        self._database = database
        self._embedder = embedder
        self._log = log
        self._languages = languages
        hot = HotStore(database, hot_scopes, STORE, queries_search.HOT, kept=KeptRows())
        self._store = StoreSearch(database, STORE, queries_search.SEARCH, _candidate, hot=hot)

    @tracing.memory("search_memory", "cache")
    async def query(self, principal: Principal, request: QueryCacheInput, deadline: Deadline) -> QueryResult:
        began = time.perf_counter()
        missions = await self._missions(principal, request.mission_id, deadline)
        scope = missions_scope(principal.tenant, [f"mission:{mission}" for mission in missions])
        embedded = await query_vector(
            self._embedder, principal.tenant, request.query, deadline.left() * EMBED_SHARE
        )
        query = StoreQuery(
            query=request.query,
            language=request.language,
            likely=await self._likely(principal, request, deadline),
            vector=embedded.half(),
            model=embedded.model,
            users=principal.seen_users(),
        )
        # One after the other: a query holds one connection at most, so that many slow ones leave some to others.
        evidence, rows = await self._found(query, _filter(request), scope, missions, deadline)
        size = await self._size(principal.tenant, missions, deadline)
        scored = score(Question(request.query, embedded.model, embedded.band), [evidence])
        fence = new_fence([each.candidate.text for each in scored], clock.now())
        wanted = Wanted(lexeme_weights([evidence]))
        found = block(ranked(scored, fence.now), rows, request.token_budget, fence, wanted)
        mission = None if request.mission_id == "*" else request.mission_id
        self._log.note(
            principal.tenant,
            mission,
            principal.agent,
            since=began,
            entries=len(found.entries),
            total_tokens=found.tokens,
        )
        return QueryResult(
            context_block=found.text,
            nonce=fence.nonce,
            entries=found.entries,
            dropped=Dropped(budget=found.dropped),
            total_tokens=found.tokens,
            cache_size=size,
            degraded=embedded.degraded(),
        )

    async def _likely(
        self, principal: Principal, request: QueryCacheInput, deadline: Deadline
    ) -> list[Language]:
        """The languages of a question that does not tell its own: that of its mission, and the tenant's."""
        of = await self._languages.of(principal.tenant, [request.mission_id], deadline)
        return [*of.languages.values(), *tenants_language(principal)]

    async def _found(
        self,
        query: StoreQuery,
        wanted: EntryFilter,
        scope: Scope,
        missions: list[str],
        deadline: Deadline,
    ) -> Found:
        if not wanted.empty:
            only = await self._database.run(
                scope.tenant,
                lambda c: queries_search.ids_with(c, scope.tenant, missions, wanted, query.users),
                deadline,
            )
            query = msgspec.structs.replace(query, only=only)
        return await self._store.found(query, scope, deadline)

    async def _size(self, tenant: str, missions: list[str], deadline: Deadline) -> int:
        """The live entries of the missions."""
        ((size,),) = await self._database.look(tenant, queries_search.LIVE, [missions], deadline)
        return int(size)

    async def _missions(self, principal: Principal, mission_id: str, deadline: Deadline) -> list[str]:
        """`*` means every mission that the key may read."""
        if mission_id != "*":
            principal.require_mission(mission_id)
            return [mission_id]
        return await self._database.run(
            principal.tenant,
            lambda c: queries_search.mission_ids(c, principal.tenant, principal.seen_missions()),
            deadline,
        )

    async def search(self, principal: Principal, request: SearchRequest, deadline: Deadline) -> SearchResult:
        """For assembly."""
        scopes = request.stores.get(STORE, [])
        for scope in scopes:
            principal.require_scope(scope)
        query = store_query(principal, request)
        return await self._store.search(query, missions_scope(principal.tenant, scopes), deadline)


def _filter(request: QueryCacheInput) -> EntryFilter:
    return entry_filter(
        context_types=request.context_types,
        tags=request.tags,
        agent_name=request.agent_name,
        dispatch_id=request.dispatch_id,
        since=request.since,
        until=request.until,
    )


def states(database: Database) -> StoreStates:
    return StoreStates(database, queries_search.STATED, _candidate)


def _candidate(row: asyncpg.Record) -> Candidate:
    text = entry_text(row["content"], row["kind"], row["metadata"])
    labels = header_labels(row["metadata"], row["speaker"] or row["agent_name"])
    stated = row["step"]
    return candidate_from_row(
        row,
        text[row["start"] : row["stop"]],
        labels=labels,
        step=stated or step_of(text),
        step_is_stated=stated is not None,
    )
