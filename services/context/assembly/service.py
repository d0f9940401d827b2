"""The rules of assembly: who may ask, what is searched, what is taken, and the record of why."""

from __future__ import annotations

import asyncio
import hashlib
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import NamedTuple

import msgspec
import numpy as np
import structlog
from numpy.typing import NDArray

from services.context import rerank, stores
from services.context.assembly import budget, choice, queries
from services.context.assembly.choice import Chosen, File, handle_of
from services.context.assembly.queries import CallerConfig
from services.context.assembly.schemas import AssembleContextInput, Assembly, Degraded
from services.context.forwarding.owners import Failed, Owner
from services.context.log.journal import AssemblyRow, Journal
from services.context.rerank import Reranker, RerankerUnavailable
from services.context.settings import Settings
from services.context.stores import LINKS
from shared.auth import Principal
from shared.database.idempotency import Records
from shared.database.postgres import Database
from shared.deadline import Deadline
from shared.embeddings import Embedder, EmbedderUnavailable
from shared.provenance import utc
from shared.search.evidence import SearchRequest, SearchResult, encode_vector
from shared.search.relevance import Question, Scored, answerable, score
from shared.telemetry import metrics, tracing
from shared.tokens import CHARACTERS_PER_TOKEN, estimate_tokens

log = structlog.get_logger()

# Of the time left: for the query's vector, then for the owners' answers. The rest is for packing and the log.
_EMBED_SHARE = 0.35
_SEARCH_SHARE = 0.75
_RERANK_SHARE = 0.5
_CONFIG_SECONDS = 2.0


class _Found(NamedTuple):
    results: list[SearchResult]
    degraded: list[Degraded]


class _Asked(NamedTuple):
    """A request with what follows from it."""

    principal: Principal
    request: AssembleContextInput
    scopes: list[str]
    config: CallerConfig
    tokens: int
    now: datetime
    request_id: str


class ContextService:
    def __init__(
        self,
        settings: Settings,
        database: Database,
        embedder: Embedder,
        journal: Journal,
        owners: dict[str, Owner],
        reranker: Reranker | None = None,
    ) -> None:
        self._reranker = reranker
        self._settings = settings
        self._database = database
        self._embedder = embedder
        self._journal = journal
        self.owners = owners
        self.records = Records("context")
        self._configs: dict[tuple[str, str], tuple[float, CallerConfig]] = {}
        # At zero before the first: a rise from nothing is no rate.
        for name in (*(source.name for source in stores.SOURCES), "embedder"):
            metrics.DEGRADED.labels(name, "timeout")

    @tracing.memory("search_memory", "context")
    async def assemble(
        self, principal: Principal, request: AssembleContextInput, deadline: Deadline, request_id: str
    ) -> Assembly:
        """The context that matters to `request.caller` now, within its budget."""
        started = time.perf_counter()
        scopes = self._check(principal, request)
        now = utc(request.as_of, "as_of") or datetime.now(UTC)
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
        asked = _Asked(principal, request, scopes, config, tokens, now, request_id)
        patience = Deadline(deadline.left() * _SEARCH_SHARE)
        found, (files, link_trouble) = await asyncio.gather(
            self._search(asked, vector, patience), self._read_links(asked, patience)
        )
        scored = score(Question(request.query, self._embedder.model), found.results)
        scored, reranker_trouble = await self._look_again(request.query, scored, deadline)
        chosen = choice.choose(scored, config.weights, config.token_shares, tokens, now, files)
        assembly = Assembly(
            assembly_id=0,
            context_block=chosen.block,
            sources=[choice.source(one) for one in chosen.taken()],
            total_tokens=estimate_tokens(chosen.block),
            retrieval_ms=round((time.perf_counter() - started) * 1000, 2),
            degraded=[*embedder_trouble, *found.degraded, *link_trouble, *reranker_trouble],
            low_relevance=not answerable(scored),
        )
        _count(assembly.degraded)
        if request.log:
            assembly.assembly_id = await self._journal.next_id(deadline)
            row = partial(_row, asked, assembly, chosen, found, scored, datetime.now(UTC))
            # When something is missing already, the log may not come through either.
            waits = bool(assembly.degraded)
            await self._journal.add(principal.tenant, assembly.assembly_id, row, deadline, wait=waits)
        if request.debug:
            assembly.candidates = choice.evidence(chosen, now)
        return assembly

    def _check(self, principal: Principal, request: AssembleContextInput) -> list[str]:
        """The scopes to search. Raises Forbidden where the key has no grant."""
        principal.require_agent(request.caller)
        principal.require_user(request.user_id)
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

    def forget_config(self, tenant: str) -> None:
        """What an operator sets is in force at once here, and after _CONFIG_SECONDS elsewhere."""
        for key in [key for key in self._configs if key[0] == tenant]:
            del self._configs[key]

    async def _search(self, asked: _Asked, vector: NDArray[np.float32] | None, deadline: Deadline) -> _Found:
        common = SearchRequest(
            query=asked.request.query,
            stores={},
            agent=asked.request.caller,
            user_id=asked.request.user_id,
            vector=None if vector is None else encode_vector(vector),
            model=self._embedder.model,
            as_of=None if asked.request.as_of is None else asked.now,
        )
        calls: dict[str, dict[str, list[str]]] = {}
        for store in stores.STORES:
            if (scopes := store.scopes(asked.scopes)) is not None:
                calls.setdefault(store.owner, {})[store.name] = scopes

        async def one(name: str, searched: dict[str, list[str]]) -> SearchResult | list[Degraded]:
            try:
                return await self.owners[name].search(
                    msgspec.structs.replace(common, stores=searched),
                    asked.principal,
                    deadline,
                    asked.request_id,
                )
            except Failed as error:
                return [Degraded(store, f"{name} {error.reason}") for store in searched]

        answers = await asyncio.gather(*(one(name, searched) for name, searched in calls.items()))
        results = [answer for answer in answers if isinstance(answer, SearchResult)]
        if asked.request.as_of is not None:
            _keep_until(results, asked.now)
        return _Found(
            results, [trouble for answer in answers if isinstance(answer, list) for trouble in answer]
        )

    async def _read_links(self, asked: _Asked, deadline: Deadline) -> tuple[list[File], list[Degraded]]:
        """The linked files; each that could not be read is named with its reason."""
        paths = list(dict.fromkeys(asked.request.explicit_links))
        if not paths:
            return [], []
        try:
            linked = await self.owners[LINKS.owner].links(
                paths, asked.tokens * CHARACTERS_PER_TOKEN, asked.principal, deadline, asked.request_id
            )
        except Failed as error:
            return [], [Degraded(LINKS.name, f"{LINKS.owner} {error.reason}")]
        refused = [Degraded(f"{LINKS.name}:{one.path}", one.refused) for one in linked if one.refused]
        files = [
            File(id=0, scope="vault", kind="file", text=one.text, created_at=one.modified_at, path=one.path)
            for one in linked
            if one.modified_at is not None and one.modified_at <= asked.now
        ]
        return files, refused


def _row(
    asked: _Asked,
    assembly: Assembly,
    chosen: Chosen,
    found: _Found,
    scored: Sequence[Scored],
    created_at: datetime,
) -> AssemblyRow:
    request = asked.request
    below_floor = choice.below_floor(found.results, scored)
    touched = [
        *asked.scopes,
        f"agent:{request.caller}",
        *chosen.scopes(),
        *(scope for one in below_floor for scope in one.candidate.scopes),
    ]
    candidates = choice.logged(chosen, asked.now)
    return AssemblyRow(
        tenant=asked.principal.tenant,
        id=assembly.assembly_id,
        caller=request.caller,
        mission_namespace=request.mission_namespace,
        session_id=request.session_id,
        user_id=request.user_id,
        dispatch_id=request.dispatch_id,
        scopes=list(dict.fromkeys(touched)),
        query_hash=hashlib.sha256(request.query.encode()).hexdigest(),
        token_budget=asked.tokens,
        budget_asked=request.token_budget is not None,
        token_shares=asked.config.token_shares,
        as_of=None if request.as_of is None else asked.now,
        total_tokens=assembly.total_tokens,
        retrieval_ms=assembly.retrieval_ms,
        low_relevance=assembly.low_relevance,
        degraded=[msgspec.to_builtins(one) for one in assembly.degraded],
        candidates=candidates,
        taken=[candidate.handle for candidate in candidates if candidate.taken],
        below_floor=[handle_of(one.candidate, one.store) for one in below_floor],
        created_at=created_at,
    )


def _keep_until(results: Iterable[SearchResult], end: datetime) -> None:
    for result in results:
        for one in result.stores.values():
            one.candidates = [c for c in one.candidates if c.created_at <= end]


def _count(degraded: Iterable[Degraded]) -> None:
    for one in degraded:
        metrics.DEGRADED.labels(one.source.partition(":")[0], one.reason).inc()
