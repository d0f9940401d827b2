"""Request and response bodies of assemble."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, field

from services.context.assembly.graph.lines import GraphContextEntry
from services.context.delta.schemas import Delta
from services.context.schemas import NOT_A_SCOPE, Degraded, SearchableScope, is_scope
from services.context.synthesis.writing import Style
from shared.bindings import LEFT_OUT, OwnAgent, OwnMission
from shared.body import Body
from shared.text import BigId, Language, Name, Query, mission_problem

LinkPath = Annotated[str, Meta(min_length=1, max_length=1_000)]


class AssembleContextInput(Body, kw_only=True):
    query: Query
    """What the agent is about to do, or wants to know."""
    language: Language | None = None
    """The language of the query, as ISO 639-1 names it. When left out, it is detected."""
    caller: OwnAgent = LEFT_OUT
    """The agent that asks. Its own memories count more than those of its peers."""
    mission_namespace: OwnMission | None = None
    """The mission that the agent works in."""
    token_budget: Annotated[int, Meta(ge=1, le=16_000)] | None = None
    """The most tokens of the block, by default the caller's budget."""
    scopes: Annotated[list[SearchableScope], Meta(max_length=100)] = field(default_factory=list)
    """Further scopes to search: `mission:…`, `agent:…`, `user:…`, `project:…` or `shared`."""
    session_id: Name | None = None
    """The session of the request. Of what its context holds, that which it no longer shows whole is searched, too."""
    whole_objects: bool = False
    """Also search what the session shows whole."""
    user_id: Name | None = None
    """The user that the context is for. It excludes everything about other users."""
    dispatch_id: BigId | None = None
    """The dispatch that the context is for."""
    explicit_links: Annotated[list[LinkPath], Meta(max_length=20)] = field(default_factory=list)
    """Files of the tenant's vault to include, whatever the query."""
    as_of: datetime | None = None
    """Only items recorded by then, with ages counted from it. Items deleted since stay deleted."""
    fill: bool = False
    """Fill the budget with whatever is relevant at all, instead of only with what is near the best."""
    background: bool | None = None
    """After what is relevant, show what else the caller remembers, where that is little and all of it fits. Left out,
    the profiles of the caller and the user decide."""
    neighbours: bool = True
    """Also search the missions and projects to which those of the request refer. What is found there counts half."""
    style: Style = "structured"
    """How the block says it: `structured` shows each item. `narrative` tells it in connected sentences, and `factual`
    lists facts, as the helper model writes them from these items, with their handles. That may take 15 s. Where it
    cannot be had, the block is structured, and `degraded` says why."""
    delta: bool | None = None
    """True: only what the session was not given yet, and corrections of what it was, each told once. False: the session
    begins anew, as after a compaction of its host. Left out, what the session was given plays no part. Needs
    `session_id`. A session is that of the key and the caller."""
    since: Annotated[int, Meta(ge=0)] | None = None
    """The position of the last answer with `delta` that arrived. What was told after it comes again."""
    log: bool = True
    """False: the assembly is not logged, and its `assembly_id` is 0."""
    debug: bool = False
    """Include the scores of each search arm for every candidate. Needs admin access."""

    def checks(self) -> Iterator[tuple[str, str]]:
        if self.mission_namespace is not None and (problem := mission_problem(self.mission_namespace)):
            yield "mission_namespace", problem
        if self.delta is not None and self.session_id is None:
            yield "session_id", "is required with delta"
        if self.delta is not None and self.as_of is not None:
            yield "as_of", "cannot be combined with delta: a session knows what holds now"
        if self.delta is not None and self.style != "structured":
            yield "style", "must be structured with delta"
        if self.since is not None and not self.delta:
            yield "since", "needs delta to be true"
        for place, scope in enumerate(self.scopes):
            if not is_scope(scope):
                yield f"scopes[{place}]", NOT_A_SCOPE


class Source(msgspec.Struct, omit_defaults=True):
    """One item of the block. score = weight * relevance * recency * priority."""

    handle: str
    """The item's name in the block, in feedback and in `/api/context/sources`."""
    store: str
    """The item's store, as weights name it; `explicit_link` for a file that the request linked; or `profile`."""
    id: int
    chunk: int
    """The index of this part of a long item."""
    kind: str
    """The item's context_type or memory_type."""
    score: float
    weight: float
    relevance: float
    recency: float
    priority: float
    tokens: int
    """Its tokens in the block."""
    cut: bool
    """Only a part of it is in the block."""
    agent: str | None
    """The agent that wrote it."""
    speaker: str | None
    """Who said it, as the agent claims."""
    source_kind: str
    """The kind of source it is from. A block notes every kind but `user` and `agent`."""
    at: datetime
    """When it happened, or else when it was written."""
    was: str | None = None
    """What it states in the place of, as its header in the block says: the value of the newest item it supersedes."""
    background: bool = False
    """It is there because it fits, and not because it is relevant."""
    neighbour: str | None = None
    """The scope it is from, if the request only refers to it. Its relevance counts half."""
    excerpt: bool = False
    """The part is not its beginning: it is the passages that match the query best, with `…` where others are left
    out. `GET /api/context/sources/{handle}` returns the whole item."""
    repeats: list[str] = []
    """The handles of items that say the same. The block shows only this one, and its header counts them: `×3`."""


class Evidence(msgspec.Struct, omit_defaults=True):
    """A candidate in the debug answer: the scores of each arm, and its outcome."""

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
    """What became of it: taken, cut, background (taken because it fits), budget (no room was left), below_cut (too far
    from the best), repeat (of another), superseded (by a newer item), given (the session has it) or floor (too little
    relevance)."""
    superseded_by: str | None = None
    """The handle of the newer item that says something else about the same."""
    same_as: str | None = None
    """The handle of the item that it repeats."""


class SearchedScope(msgspec.Struct, omit_defaults=True):
    """A scope that was searched, and the number of items in it."""

    scope: str
    """`agent:*` is every agent's memories, and `session:…` the objects of the request's session."""
    items: int | None
    """About how many it holds; null where its owner did not answer."""
    neighbour: bool = False
    """A mission or a project of the request refers to it."""


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
    below_cut: int
    """The number that is too far from the best. `fill` asks for them."""


class SynthesisOfBlock(msgspec.Struct, omit_defaults=True):
    """What became of the style that was asked for."""

    asked: Style
    """The style that was asked for."""
    style: Style
    """That of the block: the one that was asked for, or `structured`."""
    model: str | None = None
    """The helper model, as `provider:model`."""
    prompt: str | None = None
    """The version of what the model was asked."""
    tokens: int = 0
    """Tokens of what it wrote."""
    cited: list[str] = []
    """The handles that it cites, in order. All of them are items of the block that it wrote from."""
    dropped: int = 0
    """Sentences that were left out: they cite nothing of the block, state what their items do not, or had no room."""


class Assembly(msgspec.Struct):
    assembly_id: int
    """Names the assembly in feedback; 0 if it was not logged."""
    context_block: str
    """Text for a prompt. Each item begins with a header: `[handle time kind author nonce]`, and one that
    stands for others counts them: `[… author ×3 nonce]`."""
    nonce: str
    """Ends each header of this block. No text in the block holds it."""
    sources: list[Source]
    """The items of the block, in order. For a style of its own, those that it was written from."""
    total_tokens: int
    """Tokens of the block."""
    retrieval_ms: float
    degraded: list[Degraded]
    """The sources that failed or answered only in part."""
    low_relevance: bool
    """Nothing that was found seems to answer the query."""
    searched: list[SearchedScope]
    """The scopes that the request names, the caller's own and everybody's; a name that holds nothing shows as 0."""
    budget: BlockBudget
    """The budget that held."""
    left_out: LeftOut
    """What was found and had no room."""
    graph: list[GraphContextEntry]
    """Facts of the entities that the query names. Their lines, marked `[GRAPH]`, begin the block."""
    candidates: list[Evidence] | msgspec.UnsetType = msgspec.UNSET
    """Only with `debug`."""
    delta: Delta | msgspec.UnsetType = msgspec.UNSET
    """Only with `delta`."""
    synthesis: SynthesisOfBlock | msgspec.UnsetType = msgspec.UNSET
    """Only where a style was asked for."""
