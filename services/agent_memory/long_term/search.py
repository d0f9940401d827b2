"""Searches long-term memory: for assembly with both arms, and for callers by text first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from services.agent_memory.chunk_words import text_of
from services.agent_memory.long_term import queries_search
from services.agent_memory.long_term.schemas import (
    Arm,
    FoundLongTerm,
    FoundLongTerms,
    SearchMemoryInput,
)
from services.agent_memory.vacancy import Vacancies
from shared.auth import Principal
from shared.database.postgres import Database
from shared.deadline import Deadline
from shared.embeddings import CachedEmbedder
from shared.search.evidence import (
    Candidate,
    SearchRequest,
    SearchResult,
    StoreResult,
    candidate_from_row,
)
from shared.search.hot.kept import KeptRows
from shared.search.hot.scopes import HotScopes
from shared.search.hot.search import MOST_CODED, HotStore
from shared.search.lexicon import only_if_held
from shared.search.question import EMBED_SHARE, QueryVector, query_vector
from shared.search.relevance import Question, Scored, score
from shared.search.store import Found, StoreQuery, StoreSearch, store_query, tenants_language
from shared.states.comparing import StoreStates
from shared.telemetry import tracing

STORE = "memory"
_EVERYBODY = "shared"
# Text alone is enough when so many memories hold more than two thirds of the question's content words. Found on LoCoMo.
ENOUGH = 3
MOST = 2 / 3


class Asked(NamedTuple):
    """A question, with the scopes and ids that it may look at."""

    principal: Principal
    request: SearchMemoryInput
    scopes: list[str]
    only: list[int] | None


class LongTermSearch:
    def __init__(
        self,
        database: Database,
        embedder: CachedEmbedder,
        vacancies: Vacancies,
        hot_scopes: HotScopes,
        most: float = MOST,
    ) -> None:
        """`most`: the share of a question's words that ENOUGH memories hold where text alone answers."""
        self._database = database
        self._most = most
        self._embedder = embedder
        hot = HotStore(
            database, hot_scopes, STORE, queries_search.HOT, kept=KeptRows(), most_coded=MOST_CODED
        )
        self._store = StoreSearch(
            database, STORE, queries_search.SEARCH, _candidate, hot=hot, complete=_add_labels
        )
        self._vacancies = vacancies

    async def search(self, principal: Principal, request: SearchRequest, deadline: Deadline) -> SearchResult:
        """For assembly: the scopes that the request names, the caller's, the user's, and what is shared."""
        query, scopes = store_query(principal, request), _scopes_of(principal, request)
        result = await self._store.search(query, queries_search.scope_of(principal.tenant, scopes), deadline)
        self._vacancies.learn(principal.tenant, STORE, found=result.stores[STORE].documents > 0)
        return result

    @tracing.memory("search_memory", "agent_memory")
    async def find(
        self, principal: Principal, request: SearchMemoryInput, deadline: Deadline
    ) -> FoundLongTerms:
        """By text alone where that finds enough, and otherwise by both arms."""
        scopes = reachable(principal, request.scopes, request.agent_name, request.user_id)
        only = await self._only(principal, scopes, request, deadline)
        asked = Asked(principal, request, scopes, only)
        unasked = QueryVector(self._embedder.model, None)
        found = await self._run(asked, unasked, deadline)
        if enough(found.evidence, self._most):
            return _answer(asked, found, unasked, "text")
        seconds = deadline.left() * EMBED_SHARE
        embedded = await query_vector(self._embedder, principal.tenant, request.query, seconds)
        if embedded.vector is None:
            return _answer(asked, found, embedded, "text")
        arm: Arm = "both" if any(each.places for each in _candidates(found.evidence)) else "vector"
        return _answer(asked, await self._run(asked, embedded, deadline), embedded, arm)

    async def _only(
        self, principal: Principal, scopes: Sequence[str], request: SearchMemoryInput, deadline: Deadline
    ) -> list[int] | None:
        if not request.kinds:
            return None
        return await self._database.run(
            principal.tenant,
            lambda c: queries_search.of_kinds(c, principal.tenant, scopes, request.kinds),
            deadline,
        )

    async def _run(self, asked: Asked, embedded: QueryVector, deadline: Deadline) -> Found:
        tenant = asked.principal.tenant
        query = StoreQuery(
            query=asked.request.query,
            language=asked.request.language,
            likely=tenants_language(asked.principal),
            vector=embedded.half(),
            model=embedded.model,
            only=asked.only,
            users=asked.principal.seen_users(asked.request.user_id),
        )

        return await self._store.found(query, queries_search.scope_of(tenant, asked.scopes), deadline)


def nothing(principal: Principal, request: SearchRequest) -> StoreResult:
    return StoreResult.of_nothing(_scopes_of(principal, request))


def _scopes_of(principal: Principal, request: SearchRequest) -> list[str]:
    return reachable(principal, request.stores[STORE], request.agent, request.user_id)


def reachable(
    principal: Principal, named: Sequence[str], agent: str | None, user_id: str | None
) -> list[str]:
    """The scopes to search. Raises Forbidden for one that the key has no grant for."""
    own = [f"agent:{agent}"] if agent is not None else []
    users = [f"user:{user_id}"] if user_id is not None else []
    scopes = list(dict.fromkeys([*named, *own, *users, _EVERYBODY]))
    for scope in scopes:
        principal.require_scope(scope)
    return scopes


def enough(evidence: SearchResult, most: float = MOST) -> bool:
    """Whether ENOUGH memories hold more than `most` of the question's content words."""
    words = {place for place, lexeme in enumerate(evidence.lexemes, 1) if not only_if_held(lexeme)}
    holding = {
        each.id for each in _candidates(evidence) if len(words.intersection(each.places)) > most * len(words)
    }
    return len(holding) >= ENOUGH


def _candidates(evidence: SearchResult) -> list[Candidate]:
    return evidence.stores[STORE].candidates


def states(database: Database) -> StoreStates:
    return StoreStates(database, queries_search.STATED, _labelled)


def _candidate(row: Any) -> Candidate:
    return candidate_from_row(row, text_of(row), step=row["step"], step_is_stated=row["step"] is not None)


def _labelled(row: Any) -> Candidate:
    candidate = _candidate(row)
    _add_labels(candidate, row)
    return candidate


def _add_labels(candidate: Candidate, row: Any) -> None:
    candidate.labels = _labels(row)


def _labels(row: Any) -> list[str]:
    """What a commitment's header says besides its kind: whether it is open depends on the time."""
    if row["kind"] != "commitment":
        return []
    parties = f"{row['owed_by'] or 'somebody'} to {row['owed_to']}" if row["owed_to"] else row["owed_by"]
    due = None if row["due_at"] is None else f"due {row['due_at']:%Y-%m-%d %H:%M}"
    return [label for label in (row["status"], due, parties) if label]


def _answer(asked: Asked, found: Found, embedded: QueryVector, arm: Arm) -> FoundLongTerms:
    scored = score(Question(asked.request.query, embedded.model, embedded.band), [found.evidence])
    best: dict[int, Scored] = {}
    for each in scored:
        best.setdefault(each.candidate.id, each)
    memories = [_found(found.rows[memory_id], each) for memory_id, each in best.items()]
    return FoundLongTerms(memories[: asked.request.limit], arm, embedded.degraded())


def _found(row: Any, scored: Scored) -> FoundLongTerm:
    candidate = scored.candidate
    part = (
        {"truncated": True, "chunk": candidate.chunk, "chunks": candidate.chunks}
        if candidate.chunks > 1
        else {}
    )
    columns = {**row, "id": candidate.id, "content": candidate.text}
    return msgspec.structs.replace(FoundLongTerm.from_row(columns), score=round(scored.relevance, 4), **part)
