"""The rules of assembly: who may ask, what is searched, what is taken, and the record of why."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import NamedTuple

import msgspec
import numpy as np
import structlog
from numpy.typing import NDArray

from services.context import queries, rerank
from services.context.assembly import budget, ranking
from services.context.assembly.budget import Packed
from services.context.assembly.ranking import Worth
from services.context.owners import Failed, Owner
from services.context.queries import CallerConfig
from services.context.rerank import Reranker, RerankerUnavailable
from services.context.schemas import (
    AssembleContextInput,
    Assembly,
    ContextFeedback,
    Degraded,
    Evidence,
    Receipt,
    Source,
)
from services.context.settings import Settings
from shared import metrics
from shared.auth import Principal
from shared.deadline import Deadline
from shared.embeddings import Embedder, EmbedderUnavailable
from shared.errors import NotFound
from shared.idempotency import Key, Records
from shared.postgres import Connection, Database
from shared.render import render_item
from shared.search.evidence import Candidate, SearchRequest, SearchResult, encode_vector
from shared.search.relevance import Question, Scored, answerable, score
from shared.timeline import Doorbell
from shared.tokens import estimate_tokens

log = structlog.get_logger()

HANDLES: Mapping[str, str] = {
    "psychic_cache": "cache",
    "agent_memory_own": "own",
    "agent_memory_peer": "peer",
}
# Of the time left: for the query's vector, then for the owners' answers. The rest is for packing and the log.
_EMBED_SHARE = 0.35
_SEARCH_SHARE = 0.75
_RERANK_SHARE = 0.5
_CONFIG_SECONDS = 2.0


class _Found(NamedTuple):
    results: list[SearchResult]
    degraded: list[Degraded]


class _Chosen(NamedTuple):
    """The block and, by order of worth, what became of each candidate; repeats of a text stand apart."""

    block: str
    packed: list[Packed]
    worths: list[Worth]
    repeats: list[Worth]
    outcomes: dict[int, str]

    def candidates(self) -> list[tuple[Worth, str]]:
        return [
            *((worth, self.outcomes[place]) for place, worth in enumerate(self.worths)),
            *((worth, "repeat") for worth in self.repeats),
        ]


class ContextService:
    def __init__(
        self,
        settings: Settings,
        database: Database,
        embedder: Embedder,
        doorbell: Doorbell,
        owners: dict[str, Owner],
        reranker: Reranker | None = None,
    ) -> None:
        self._reranker = reranker
        self._settings = settings
        self._database = database
        self._embedder = embedder
        self._doorbell = doorbell
        self.owners = owners
        self.records = Records("context")
        self._configs: dict[tuple[str, str], tuple[float, CallerConfig]] = {}

    async def assemble(
        self, principal: Principal, request: AssembleContextInput, deadline: Deadline, request_id: str
    ) -> Assembly:
        """The context that matters to `request.caller` now, within its budget."""
        started = time.perf_counter()
        scopes = self._check(principal, request)
        (vector, embedder_trouble), config = await asyncio.gather(
            self._embed(request.query, Deadline(deadline.left() * _EMBED_SHARE)),
            self._config(principal.tenant, request.caller, deadline),
        )
        tokens = budget.resolve(
            request.token_budget,
            request.mission_namespace is not None or bool(request.scopes),
            config.default_budget or self._settings.default_budget,
            config.ceiling,
            self._settings.max_budget,
        )
        found = await self._search(
            principal, request, scopes, vector, Deadline(deadline.left() * _SEARCH_SHARE), request_id
        )
        scored = score(Question(request.query, self._embedder.model), found.results)
        scored, reranker_trouble = await self._look_again(request.query, scored, deadline)
        degraded = [*embedder_trouble, *found.degraded, *reranker_trouble]
        for one in degraded:
            metrics.DEGRADED.labels(one.source, one.reason).inc()
        now = datetime.now(UTC)
        chosen = _choose(scored, config, tokens, now)
        assembly = Assembly(
            assembly_id=0,
            context_block=chosen.block,
            sources=[_source(chosen.worths[one.place], one.tokens, cut=one.cut) for one in chosen.packed],
            total_tokens=estimate_tokens(chosen.block),
            retrieval_ms=round((time.perf_counter() - started) * 1000, 2),
            degraded=degraded,
            low_relevance=not answerable(scored),
        )
        if request.log:
            assembly.assembly_id = await self._log(
                principal, request, scopes, tokens, assembly, chosen, deadline
            )
        if request.debug:
            assembly.candidates = [_evidence(worth, outcome, now) for worth, outcome in chosen.candidates()]
        return assembly

    def _check(self, principal: Principal, request: AssembleContextInput) -> list[str]:
        """The scopes to search. Raises Forbidden where the key has no grant."""
        principal.require_agent(request.caller)
        if request.debug:
            principal.require("admin")
        scopes = list(request.scopes)
        if request.mission_namespace is not None:
            scopes.insert(0, f"mission:{request.mission_namespace}")
        for scope in scopes:
            principal.require_scope(scope)
        return list(dict.fromkeys(scopes))

    async def _embed(
        self, query: str, deadline: Deadline
    ) -> tuple[NDArray[np.float32] | None, list[Degraded]]:
        try:
            vectors = await asyncio.wait_for(self._embedder.embed([query], "query"), deadline.left())
        except TimeoutError:
            return None, [Degraded("embedder", "timeout")]
        except EmbedderUnavailable as error:
            return None, [Degraded("embedder", error.reason)]
        return vectors[0], []

    async def _look_again(
        self, query: str, scored: list[Scored], deadline: Deadline
    ) -> tuple[list[Scored], list[Degraded]]:
        """The best candidates in the reranker's view too, where one is turned on."""
        if self._reranker is None:
            return scored, []
        texts = [one.candidate.text for one in scored[: rerank.DEPTH]]
        patience = deadline.left() * _RERANK_SHARE
        try:
            second = await asyncio.wait_for(self._reranker.score(query, texts), patience)
        except TimeoutError:
            return scored, [Degraded("reranker", "timeout")]
        except RerankerUnavailable as error:
            return scored, [Degraded("reranker", error.reason)]
        return rerank.blend(scored, second), []

    async def _config(self, tenant: str, caller: str, deadline: Deadline) -> CallerConfig:
        """A caller's weights and budget, at most _CONFIG_SECONDS old."""
        known = self._configs.get((tenant, caller))
        if known is not None and time.monotonic() - known[0] < _CONFIG_SECONDS:
            return known[1]
        config = await self._database.run(lambda c: queries.caller_config(c, tenant, caller), deadline)
        if len(self._configs) > 10_000:
            self._configs.clear()
        self._configs[tenant, caller] = (time.monotonic(), config)
        return config

    async def _search(
        self,
        principal: Principal,
        request: AssembleContextInput,
        scopes: list[str],
        vector: NDArray[np.float32] | None,
        deadline: Deadline,
        request_id: str,
    ) -> _Found:
        common = SearchRequest(
            query=request.query,
            stores={},
            agent=request.caller,
            vector=None if vector is None else encode_vector(vector),
            model=self._embedder.model,
        )
        missions = [scope for scope in scopes if scope.startswith("mission:")]
        calls: dict[str, dict[str, list[str]]] = {
            "agent_memory": {"agent_memory_own": [], "agent_memory_peer": []}
        }
        if missions:
            calls["cache"] = {"psychic_cache": missions}

        async def one(name: str, stores: dict[str, list[str]]) -> SearchResult | list[Degraded]:
            try:
                return await self.owners[name].search(
                    msgspec.structs.replace(common, stores=stores), principal, deadline, request_id
                )
            except Failed as error:
                return [Degraded(store, f"{name} {error.reason}") for store in stores]

        answers = await asyncio.gather(*(one(name, stores) for name, stores in calls.items()))
        return _Found(
            [answer for answer in answers if isinstance(answer, SearchResult)],
            [trouble for answer in answers if isinstance(answer, list) for trouble in answer],
        )

    async def _log(
        self,
        principal: Principal,
        request: AssembleContextInput,
        scopes: list[str],
        tokens: int,
        assembly: Assembly,
        chosen: _Chosen,
        deadline: Deadline,
    ) -> int:
        candidates = [_logged(worth, outcome) for worth, outcome in chosen.candidates()]
        touched = dict.fromkeys(
            [*scopes, f"agent:{request.caller}", *(worth.scored.candidate.scope for worth in chosen.worths)]
        )
        assembly_id = await self._database.run(
            lambda c: queries.log_assembly(
                c,
                principal.tenant,
                request.caller,
                request.mission_namespace,
                request.session_id,
                request.user_id,
                request.dispatch_id,
                list(touched),
                hashlib.sha256(request.query.encode()).digest(),
                tokens,
                assembly.total_tokens,
                assembly.retrieval_ms,
                assembly.low_relevance,
                [msgspec.to_builtins(one) for one in assembly.degraded],
                candidates,
            ),
            deadline,
        )
        self._doorbell.ring(principal.tenant)
        return assembly_id

    async def feedback(
        self, principal: Principal, given: ContextFeedback, key: Key | None, deadline: Deadline
    ) -> None:
        """Which sources of an assembly were used. Raises NotFound for an assembly that is not the caller's."""

        async def note(connection: Connection) -> None:
            if not await queries.feedback(
                connection,
                principal.tenant,
                given.assembly_id,
                given.used_source_ids,
                given.tokens_used,
                principal.agent,
            ):
                raise NotFound(f"no assembly {given.assembly_id}")

        # The same feedback twice is the same state: a key changes nothing.
        await self._database.run(note, deadline)

    async def purge(self, principal: Principal, scope: str, deadline: Deadline, request_id: str) -> Receipt:
        """Every row of a scope, in every table of every service. The owners first: what they hold is the data."""
        erased: dict[str, dict[str, int]] = {}
        for name, owner in self.owners.items():
            erased[name] = await owner.purge(scope, principal, deadline, request_id)

        async def erase(connection: Connection) -> dict[str, int]:
            counts: dict[str, int] = {}
            for table, statement in queries.PURGE:
                done = await connection.execute(statement, principal.tenant, scope)
                counts[table] = int(done.rsplit(" ", 1)[-1])
            return counts

        erased["context"] = await self._database.transaction(erase, deadline)
        return Receipt(scope, erased)


def _choose(scored: list[Scored], config: CallerConfig, tokens: int, now: datetime) -> _Chosen:
    weights = {**ranking.DEFAULT_WEIGHTS, **config.weights}
    worths, repeats = ranking.without_repeats(ranking.rank(scored, weights, now))
    packed, outcomes = budget.pack(
        worths,
        tokens,
        lambda worth: worth.scored.store,
        config.token_shares,
        lambda worth: worth.scored.candidate.text,
        lambda worth, text: _render(worth, text, now),
    )
    outcomes |= {one.place: "cut" if one.cut else "taken" for one in packed}
    return _Chosen("\n".join(one.rendered for one in packed), packed, worths, repeats, outcomes)


def _handle(candidate: Candidate, store: str) -> str:
    part = f"#{candidate.chunk}" if candidate.chunks > 1 else ""
    return f"{HANDLES.get(store, store)}:{candidate.id}{part}"


def _render(worth: Worth, text: str, now: datetime) -> str:
    candidate = worth.scored.candidate
    who = candidate.speaker or candidate.agent
    return render_item(
        _handle(candidate, worth.scored.store),
        ranking.time_of(candidate),
        [candidate.kind, *([who] if who else [])],
        text,
        now,
    )


def _source(worth: Worth, tokens: int, *, cut: bool) -> Source:
    candidate = worth.scored.candidate
    return Source(
        handle=_handle(candidate, worth.scored.store),
        store=worth.scored.store,
        id=candidate.id,
        chunk=candidate.chunk,
        kind=candidate.kind,
        score=round(worth.score, 4),
        weight=worth.weight,
        relevance=round(worth.relevance, 4),
        recency=round(worth.recency, 4),
        priority=worth.priority,
        tokens=tokens,
        cut=cut,
        agent=candidate.agent,
        speaker=candidate.speaker,
        at=ranking.time_of(candidate),
    )


def _evidence(worth: Worth, outcome: str, now: datetime) -> Evidence:
    scored = worth.scored
    candidate = scored.candidate
    return Evidence(
        handle=_handle(candidate, scored.store),
        store=scored.store,
        id=candidate.id,
        chunk=candidate.chunk,
        score=round(worth.score, 6),
        relevance=round(worth.relevance, 6),
        text=round(scored.text, 6),
        vector=round(scored.vector, 6),
        cosine=candidate.cosine,
        tokens=estimate_tokens(_render(worth, candidate.text, now) + "\n"),
        outcome=outcome,
    )


def _logged(worth: Worth, outcome: str) -> list[object]:
    """handle, scope, score, weight, relevance, recency, priority, what became of it."""
    return [
        _handle(worth.scored.candidate, worth.scored.store),
        worth.scored.candidate.scope,
        round(worth.score, 4),
        round(worth.weight, 3),
        round(worth.relevance, 4),
        round(worth.recency, 4),
        worth.priority,
        outcome,
    ]
