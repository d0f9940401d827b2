"""What assemble takes and answers."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, field

from services.context.schemas import NOT_A_SCOPE, Degraded, SearchableScope, is_scope
from shared.bindings import LEFT_OUT, OwnAgent, OwnMission
from shared.body import Body
from shared.text import BigId, Name, Query, mission_problem

LinkPath = Annotated[str, Meta(min_length=1, max_length=1_000)]


class AssembleContextInput(Body, kw_only=True):
    query: Query
    """What the agent is about to do, or wants to know."""
    caller: OwnAgent = LEFT_OUT
    """The agent that asks: its own memories count more than those of peers."""
    mission_namespace: OwnMission | None = None
    """The mission that it works in."""
    token_budget: Annotated[int, Meta(ge=1, le=16_000)] | None = None
    """Tokens that the block may have; else the caller's budget."""
    scopes: Annotated[list[SearchableScope], Meta(max_length=100)] = field(default_factory=list)
    """More to search: `mission:…`, `agent:…`, `user:…`, `project:…` or `shared`."""
    session_id: Name | None = None
    """The session that asks."""
    user_id: Name | None = None
    """The user whom it is for: nothing that is about other users is in it."""
    dispatch_id: BigId | None = None
    """The dispatch that it is for."""
    explicit_links: Annotated[list[LinkPath], Meta(max_length=20)] = field(default_factory=list)
    """Files of the tenant's vault, to be in the block whatever was asked."""
    as_of: datetime | None = None
    """Items recorded by then, with their ages counted from it; what was deleted since stays deleted."""
    log: bool = True
    """False: nothing is kept of it, and its `assembly_id` is 0."""
    debug: bool = False
    """With what each arm of the search said of every candidate. Needs admin."""

    def checks(self) -> Iterator[tuple[str, str]]:
        if self.mission_namespace is not None and (problem := mission_problem(self.mission_namespace)):
            yield "mission_namespace", problem
        for place, scope in enumerate(self.scopes):
            if not is_scope(scope):
                yield f"scopes[{place}]", NOT_A_SCOPE


class Source(msgspec.Struct):
    """One item of the block. score = weight * relevance * recency * priority."""

    handle: str
    """Names it in the block, in feedback and in `/api/context/sources`."""
    store: str
    """The store that it is from, as weights name it; `explicit_link` for a file that the request linked."""
    id: int
    chunk: int
    """Which part of a long item."""
    kind: str
    """Its context_type or memory_type."""
    score: float
    weight: float
    relevance: float
    recency: float
    priority: float
    tokens: int
    """What it takes in the block."""
    cut: bool
    """Only a part of it is in the block."""
    agent: str | None
    speaker: str | None
    at: datetime
    """When it happened, else when it was written."""


class Evidence(msgspec.Struct, omit_defaults=True):
    """A candidate before packing, for the debug answer: what each arm said, and what became of it."""

    handle: str
    store: str
    id: int
    chunk: int
    score: float
    relevance: float
    text: float
    """How well its words match, as the text arm saw it."""
    vector: float
    """How well its meaning matches, as the vector arm saw it."""
    cosine: float | None
    """The cosine of its vector and the question's; null where it has no vector."""
    tokens: int
    """Tokens of the candidate whole."""
    outcome: str
    """What became of it: taken, cut, budget (no room was left), repeat (of another) or floor (too little relevance)."""


class SearchedScope(msgspec.Struct):
    """A scope that was searched, and the number of items in it."""

    scope: str
    """`agent:*` is every agent's memories."""
    items: int | None
    """About how many it holds; null where its owner did not answer."""


BudgetOrigin = Literal["request", "caller", "default", "ceiling"]


class BlockBudget(msgspec.Struct):
    """The tokens that the block could have, and what set them."""

    tokens: int
    """The most that the block could take."""
    origin: BudgetOrigin = field(name="from")
    """`caller`: what is set or was learned for the caller; `ceiling`: more was wanted than is allowed."""


class LeftOut(msgspec.Struct):
    """What was found and had no room."""

    count: int
    """The number of items, or of parts of long items."""
    handles: list[str]
    """Of the best of them."""


class Assembly(msgspec.Struct):
    assembly_id: int
    """For feedback; 0 when it was not logged."""
    context_block: str
    """To be put into a prompt: each item fenced with its handle."""
    sources: list[Source]
    """What is in the block, in its order."""
    total_tokens: int
    """Tokens of the block."""
    retrieval_ms: float
    degraded: list[Degraded]
    """What did not answer, or not as it should."""
    low_relevance: bool
    """Nothing found stands out of what any question finds."""
    searched: list[SearchedScope]
    """The scopes that the request names, the caller's own and everybody's; a name that holds nothing shows as 0."""
    budget: BlockBudget
    """The budget that held."""
    left_out: LeftOut
    """What was found and had no room."""
    candidates: list[Evidence] | msgspec.UnsetType = msgspec.UNSET
    """With `debug` only."""
