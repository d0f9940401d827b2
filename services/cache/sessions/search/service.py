"""Searches the objects of a session, evicted ones too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from services.cache.sessions.paging.fidelity import Level
from services.cache.sessions.search import queries
from services.cache.sessions.search.indexing import STORE
from services.cache.sessions.search.queries import session_scope
from services.cache.sessions.search.schemas import FoundObject, FoundObjects, SearchObjectsInput
from services.cache.sessions.transactions import Held, SessionTransactions
from shared.auth import Principal
from shared.database.postgres import Connection
from shared.deadline import Deadline
from shared.embeddings import CachedEmbedder
from shared.provenance import SourceKind
from shared.search.evidence import Candidate
from shared.search.question import EMBED_SHARE, query_vector
from shared.search.relevance import Question, Scored, score
from shared.search.store import StoreQuery, StoreSearch, tenants_language
from shared.telemetry import tracing
from shared.text import Language

# Who states what an object of a type says. The rest is the agent's own.
_KINDS: dict[str, SourceKind] = {
    "file_context": "tool",
    "tool_result": "tool",
    "error_context": "tool",
    "external_reference": "document",
}


class Asked(NamedTuple):
    """A question that is ready to be asked on a connection."""

    question: Question
    query: StoreQuery
    degraded: list[str]


class ObjectSearch:
    def __init__(self, transactions: SessionTransactions, embedder: CachedEmbedder) -> None:
        self._transactions = transactions
        self._embedder = embedder
        self._store = StoreSearch(transactions.database, STORE, queries.SEARCH, candidate_of)

    async def asked(
        self, principal: Principal, question: str, deadline: Deadline, language: Language | None = None
    ) -> Asked:
        """Embeds the question, so no connection may be held. Without a vector, words alone are compared."""
        seconds = deadline.left() * EMBED_SHARE
        embedded = await query_vector(self._embedder, principal.tenant, question, seconds)
        query = StoreQuery(
            query=question,
            language=language,
            likely=tenants_language(principal),
            vector=embedded.half(),
            model=embedded.model,
        )
        return Asked(Question(question, embedded.model, embedded.band), query, embedded.degraded())

    async def best(
        self,
        connection: Connection,
        tenant: str,
        session_id: UUID,
        asked: Asked,
        *,
        limit: int,
        evicted: bool = True,
        superseded: bool = False,
    ) -> list[FoundObject]:
        """The session's objects that answer best, by one statement. The caller has checked that the key reaches it."""
        found = await self._store.find(connection, asked.query, session_scope(tenant, session_id))
        scored = score(asked.question, [found.evidence])
        hits = [_found(found.rows[each.candidate.id], each) for each in _best_chunks(scored)]
        hits = [
            hit
            for hit in hits
            if (evicted or hit.current_fidelity != Level.EVICTED) and (superseded or not hit.superseded)
        ]
        return sorted(hits, key=lambda hit: hit.superseded)[:limit]

    @tracing.memory("search_memory", "cache")
    async def search(
        self, principal: Principal, session: str, wanted: SearchObjectsInput, deadline: Deadline
    ) -> FoundObjects:
        """Raises NotFound for a session that the key does not reach."""
        asked = await self.asked(principal, wanted.query, deadline, wanted.language)

        async def work(c: Connection, held: Held) -> list[FoundObject]:
            return await self.best(
                c,
                held.tenant,
                held.id,
                asked,
                limit=wanted.limit,
                evicted=wanted.evicted,
                superseded=wanted.superseded,
            )

        objects = await self._transactions.read(principal, session, work, deadline)
        return FoundObjects(objects, asked.degraded)


def _best_chunks(scored: Sequence[Scored]) -> list[Scored]:
    """Each object once."""
    best: dict[int, Scored] = {}
    for each in scored:
        best.setdefault(each.candidate.id, each)
    return list(best.values())


def candidate_of(row: Any) -> Candidate:
    """Of a row of the search statement. Its scope is the session."""
    return Candidate(
        id=row["item_id"],
        scope=f"session:{row['session_id']}",
        kind=row["object_type"],
        text=row["passage"],
        created_at=row["created_at"],
        chunk=row["chunk"],
        chunks=row["chunks"],
        words=row["words"],
        cosine=row["cosine"],
        places=row["places"] or [],
        tf=row["tfs"] or [],
        session_id=str(row["session_id"]),
        source_kind=_KINDS.get(row["object_type"], "agent"),
        superseded_by=row["superseded_by"],
        labels=[] if row["source_key"] is None else [row["source_key"].replace(",", ";")[-80:]],
        names=[] if row["source_key"] is None else [row["source_key"]],
    )


def _found(row: Any, scored: Scored) -> FoundObject:
    return FoundObject(
        id=row["id"],
        number=scored.candidate.id,
        object_type=row["object_type"],
        source_key=row["source_key"],
        current_fidelity=row["current_fidelity"],
        stub=row["stub"],
        tokens_l0=row["tokens_l0"],
        score=round(scored.relevance, 4),
        passage=scored.candidate.text,
        start_line=row["start_line"],
        end_line=row["end_line"],
        superseded=scored.candidate.superseded_by is not None,
    )
