"""Prepares a request for context: checks its grants, resolves its budget, and embeds its query."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from services.context.assembly.config import CallerConfigs
from services.context.assembly.queries import CallerConfig
from services.context.assembly.schemas import AssembleContextInput, BudgetOrigin
from services.context.forwarding.mission_languages import MissionLanguages
from services.context.forwarding.references import NONE, Neighbours, References
from services.context.log.query_hash import query_hash
from services.context.profiles.schemas import Profile, subjects
from services.context.profiles.service import ProfileService
from services.context.schemas import Degraded
from services.context.settings import Settings
from shared.auth import Principal
from shared.concurrency import clock
from shared.deadline import Deadline
from shared.embeddings import CachedEmbedder
from shared.embeddings.band import Band
from shared.provenance import utc
from shared.search.question import query_vector
from shared.search.store import tenants_language
from shared.spending.payer import Payer, pay
from shared.text import Language

# The share of the time left for the query's vector.
_EMBED_SHARE = 0.35
# The budget of a request without a mission.
NULL_NAMESPACE_BUDGET = 2_000


class Embedded(NamedTuple):
    """The query's vector, or the reason why there is none."""

    model: str
    vector: NDArray[np.float32] | None
    degraded: list[Degraded]
    band: Band | None = None


class Budget(NamedTuple):
    tokens: int
    origin: BudgetOrigin


class Ask(NamedTuple):
    """A request whose grants were checked, with its budget and the query's vector."""

    principal: Principal
    request: AssembleContextInput
    request_id: str
    scopes: list[str]
    neighbours: Neighbours
    """Scopes that those of the request refer to."""
    now: datetime
    """Ages are counted from this time."""
    config: CallerConfig
    profiles: list[Profile]
    """Of the caller and of the user that the context is for."""
    budget: Budget
    embedded: Embedded
    query_hash: str
    languages: list[Language]
    """Those of a query that does not tell its own: its missions', and then its tenant's. None: the tenant's alone."""

    @property
    def background(self) -> bool:
        """Whether the block shows the caller's background."""
        if self.request.background is not None:
            return self.request.background
        return any(profile.background for profile in self.profiles)

    @property
    def as_of(self) -> datetime | None:
        return None if self.request.as_of is None else self.now


class Asking:
    def __init__(
        self,
        settings: Settings,
        embedder: CachedEmbedder,
        configs: CallerConfigs,
        profiles: ProfileService,
        languages: MissionLanguages,
        references: References,
    ) -> None:
        self._settings = settings
        self._embedder = embedder
        self._configs = configs
        self._profiles = profiles
        self._languages = languages
        self._references = references

    async def grant(
        self, principal: Principal, request: AssembleContextInput, request_id: str, deadline: Deadline
    ) -> Ask:
        """Raises Forbidden when the key has no grant."""
        scopes = _granted_scopes(principal, request)
        now = utc(request.as_of, "as_of") or clock.now()
        described = subjects(request.caller, request.user_id)
        pay(_payer(principal, request))
        embedded, config, profiles, languages, neighbours = await asyncio.gather(
            self._embed(principal.tenant, request.query, deadline.left() * _EMBED_SHARE),
            self._configs.get(principal.tenant, request.caller, deadline),
            self._profiles.of(principal.tenant, described, deadline),
            self._likely(principal, request, scopes, deadline, request_id),
            self._neighbours(principal, request, scopes, deadline, request_id),
        )
        if request.as_of is not None:
            profiles = [profile for profile in profiles if profile.updated_at <= now]
        budget = resolve_budget(
            request.token_budget,
            request.mission_namespace is not None or bool(request.scopes),
            config,
            self._settings.default_budget,
            self._settings.max_budget,
        )
        hashed = query_hash(self._settings.query_hash_secret, principal.tenant, request.query)
        return Ask(
            principal=principal,
            request=request,
            request_id=request_id,
            scopes=scopes,
            neighbours=neighbours,
            now=now,
            config=config,
            profiles=profiles,
            budget=budget,
            embedded=embedded,
            query_hash=hashed,
            languages=languages,
        )

    async def _neighbours(
        self,
        principal: Principal,
        request: AssembleContextInput,
        scopes: list[str],
        deadline: Deadline,
        request_id: str,
    ) -> Neighbours:
        if not request.neighbours:
            return NONE
        return await self._references.neighbours(principal, scopes, request.as_of, deadline, request_id)

    async def _likely(
        self,
        principal: Principal,
        request: AssembleContextInput,
        scopes: list[str],
        deadline: Deadline,
        request_id: str,
    ) -> list[Language]:
        if request.language is not None:
            return []
        of_missions = await self._languages.likely(principal, request.query, scopes, deadline, request_id)
        return [*of_missions, *tenants_language(principal)] if of_missions else []

    async def _embed(self, tenant: str, query: str, seconds: float) -> Embedded:
        embedded = await query_vector(self._embedder, tenant, query, seconds)
        degraded = [] if embedded.trouble is None else [Degraded("embedder", embedded.trouble)]
        return Embedded(embedded.model, embedded.vector, degraded, embedded.band)


def _payer(principal: Principal, request: AssembleContextInput) -> Payer:
    return Payer(
        principal.tenant,
        principal.key,
        agent=request.caller,
        mission=request.mission_namespace,
        session=None if request.user_id is not None else request.session_id,
        scope=None if request.user_id is None else f"user:{request.user_id}",
    )


def _granted_scopes(principal: Principal, request: AssembleContextInput) -> list[str]:
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


def resolve_budget(
    asked: int | None, has_namespace: bool, config: CallerConfig, default: int, installation_limit: int
) -> Budget:
    """The requested budget, or else the caller's default (2,000 without a mission), but never above a ceiling."""
    ceiling = min(installation_limit, config.ceiling or installation_limit)
    budget = _wanted(asked, has_namespace, config.default_budget, default)
    return budget if budget.tokens <= ceiling else Budget(ceiling, "ceiling")


def _wanted(asked: int | None, has_namespace: bool, callers: int | None, default: int) -> Budget:
    if asked is not None:
        return Budget(asked, "request")
    budget = Budget(default, "default") if callers is None else Budget(callers, "caller")
    return budget if has_namespace else min(budget, Budget(NULL_NAMESPACE_BUDGET, "default"))
