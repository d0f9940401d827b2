"""Searches the vault's files, for agents and for assembly."""

from __future__ import annotations

from collections.abc import Sequence

import asyncpg

from services.agent_memory.vacancy import Vacancies
from services.agent_memory.vault import queries_search
from services.agent_memory.vault.folders import asked_scopes
from services.agent_memory.vault.queries_search import every_folder, folders_scope
from services.agent_memory.vault.queries_write import STORE
from services.agent_memory.vault.schemas import FoundFiles, FoundPassage, SearchVaultInput
from shared.auth import Principal
from shared.database.postgres import Database
from shared.deadline import Deadline
from shared.embeddings import CachedEmbedder
from shared.search.evidence import Candidate, SearchRequest, SearchResult, StoreResult, candidate_from_row
from shared.search.hot.kept import KeptRows
from shared.search.hot.scopes import HotScopes
from shared.search.hot.search import MOST_CODED, HotStore
from shared.search.question import EMBED_SHARE, query_vector
from shared.search.relevance import Question, Scored, score
from shared.search.store import Found, StoreQuery, StoreSearch, store_query, tenants_language
from shared.states.comparing import StoreStates
from shared.telemetry import tracing


class VaultSearch:
    def __init__(
        self, database: Database, embedder: CachedEmbedder, vacancies: Vacancies, hot_scopes: HotScopes
    ) -> None:
        self._database = database
        self._embedder = embedder
        hot = HotStore(
            database, hot_scopes, STORE, queries_search.HOT, kept=KeptRows(), most_coded=MOST_CODED
        )
        self._folders = StoreSearch(database, STORE, queries_search.SEARCH, _candidate, hot=hot)
        self._everywhere = StoreSearch(database, STORE, queries_search.SEARCH_ALL, _candidate)
        self._vacancies = vacancies

    @tracing.memory("search_memory", "agent_memory")
    async def query(self, principal: Principal, request: SearchVaultInput, deadline: Deadline) -> FoundFiles:
        """The best passage of each file that the key may read."""
        scopes = _scopes(principal, request)
        embedded = await query_vector(
            self._embedder, principal.tenant, request.query, deadline.left() * EMBED_SHARE
        )

        query = StoreQuery(
            query=request.query,
            language=request.language,
            likely=tenants_language(principal),
            vector=embedded.half(),
            model=embedded.model,
            only=await self._only(principal.tenant, request.folder, scopes, deadline),
        )
        if scopes is None:
            found = await self._everywhere.found(query, every_folder(principal.tenant), deadline)
        else:
            found = await self._folders.found(query, folders_scope(principal.tenant, scopes), deadline)
        scored = score(Question(request.query, embedded.model, embedded.band), [found.evidence])
        return FoundFiles(_passages(scored, found)[: request.limit], embedded.degraded())

    async def _only(
        self, tenant: str, folder: str | None, scopes: Sequence[str] | None, deadline: Deadline
    ) -> list[int] | None:
        if folder is None:
            return None
        return await self._database.run(
            tenant, lambda c: queries_search.ids_below(c, tenant, folder, scopes), deadline
        )

    async def search(self, principal: Principal, request: SearchRequest, deadline: Deadline) -> SearchResult:
        """For assembly: files of the shared folder, of who asks, and of the scopes that the request names."""
        scopes = _scopes_of_request(principal, request)
        result = await self._folders.search(
            store_query(principal, request), folders_scope(principal.tenant, scopes), deadline
        )
        self._vacancies.learn(principal.tenant, STORE, found=result.stores[STORE].documents > 0)
        return result


def _scopes(principal: Principal, request: SearchVaultInput) -> list[str] | None:
    """None: every folder. Raises Forbidden for an agent, a mission or a user that the key has no grant for."""
    named = {
        "agent": request.agent_name,
        "mission": request.mission_namespace,
        "user": request.user_id,
    }
    asked = [f"{kind}:{name}" for kind, name in named.items() if name is not None]
    for scope in asked:
        principal.require_scope(scope)
    return asked_scopes(principal, None, asked) if asked else principal.own_scopes()


def nothing(principal: Principal, request: SearchRequest) -> StoreResult:
    return StoreResult.of_nothing(_scopes_of_request(principal, request))


def _scopes_of_request(principal: Principal, request: SearchRequest) -> list[str]:
    user = [] if request.user_id is None else [f"user:{request.user_id}"]
    return asked_scopes(principal, request.agent, [*request.stores[STORE], *user])


def states(database: Database) -> StoreStates:
    return StoreStates(database, queries_search.STATED, _candidate)


def _candidate(row: asyncpg.Record) -> Candidate:
    return candidate_from_row(row, row["body"], labels=[location(row)])


def location(row: asyncpg.Record) -> str:
    return f"{row['path']}#L{row['first_line']}-L{row['last_line']}"


def _passages(scored: Sequence[Scored], found: Found) -> list[FoundPassage]:
    best: dict[str, FoundPassage] = {}
    for each in scored:
        candidate = each.candidate
        row = found.rows[candidate.id]
        if row["path"] not in best:
            best[row["path"]] = _passage(row, each)
    return list(best.values())


def _passage(row: asyncpg.Record, scored: Scored) -> FoundPassage:
    candidate = scored.candidate
    path, _, lines = candidate.labels[0].rpartition("#L")
    first, _, last = lines.partition("-L")
    return FoundPassage(
        handle=f"vault:{candidate.id}" + (f"#{candidate.chunk}" if candidate.chunks > 1 else ""),
        path=path,
        title=row["title"],
        first_line=int(first),
        last_line=int(last),
        text=candidate.text,
        score=round(scored.relevance, 4),
        created_at=candidate.created_at,
        occurred_at=candidate.occurred_at,
    )
