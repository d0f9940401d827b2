"""Request and response bodies of entries, whose nine context types are a tagged union."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, field

from services.cache.dispatches.schemas import Outcome
from services.cache.entries.entry import CacheEntry
from shared.bindings import LEFT_OUT, OwnAgent, OwnMission
from shared.body import Body
from shared.paging.cursors import Cursor
from shared.paging.pages import Page
from shared.provenance import Remembered
from shared.text import (
    SEEN,
    AnyTags,
    BigId,
    Content,
    Count,
    Language,
    Name,
    Query,
    ShortText,
    Tags,
    TtlHours,
    mission_problem,
)

Priority = Literal["low", "normal", "high", "critical"]
Confidence = Literal["low", "medium", "high"]
ContextType = Literal[
    "decision",
    "directive",
    "intel",
    "state_change",
    "output",
    "report",
    "escalation",
    "shadow_clone",
    "thread_checkpoint",
]
Prose = Annotated[str, Meta(min_length=1, max_length=2_000, pattern=SEEN)]
Items = Annotated[list[ShortText], Meta(max_length=100)]


class BaseWrite(Remembered, tag_field="context_type", kw_only=True):
    mission_id: OwnMission = LEFT_OUT
    """Any printable name without `/` and `*`, except `all`, `checkpoint`, `write`, `query`, `.` and `..`."""
    content: Content
    """The text that a context block shows."""
    agent_name: OwnAgent | None = None
    """The agent that writes it."""
    ttl_hours: TtlHours | None = None
    """How long it lives, by default as the mission's limits say."""
    tags: Tags = field(default_factory=list)
    source_turn: Count | None = None
    """The turn of the conversation it comes from."""
    dispatch_id: BigId | None = None
    """The dispatch it is written for, which it keeps alive. An unknown one is accepted."""
    supersedes: BigId | None = None
    """An older entry of this agent and mission that no longer holds. It stays readable, but leaves context blocks."""

    def checks(self) -> Iterator[tuple[str, str]]:
        yield from super().checks()
        if problem := mission_problem(self.mission_id):
            yield "mission_id", problem


class Decision(BaseWrite, tag="decision", kw_only=True):
    decision_rationale: ShortText
    """Why."""
    decision_alternatives: Items = field(default_factory=list)
    """The alternatives that were not chosen."""


class Directive(BaseWrite, tag="directive", kw_only=True):
    directive_target: Name
    """Who must follow it."""
    directive_priority: Priority | None = None
    """How urgent it is."""


class Intel(BaseWrite, tag="intel", kw_only=True):
    intel_source: ShortText
    """Where it comes from."""
    intel_confidence: Confidence | None = None
    """How sure it is."""


class StateChange(BaseWrite, tag="state_change", kw_only=True):
    state_from: ShortText
    """What it was before."""
    state_to: ShortText
    """What it is now."""
    state_trigger: ShortText | None = None
    """What caused it."""


class Output(BaseWrite, tag="output", kw_only=True):
    output_url: ShortText
    """Where to find the work."""
    output_summary: ShortText | None = None
    """What the work is."""
    # Required only here, because an output belongs to an agent's dispatch.
    agent_name: OwnAgent = LEFT_OUT
    dispatch_id: BigId


class Report(BaseWrite, tag="report", kw_only=True):
    report_dispatch_id: BigId
    """The dispatch that it reports on."""
    report_outcome: Outcome
    """How the work ended."""


class Escalation(BaseWrite, tag="escalation", kw_only=True):
    escalation_target: Name
    """Who must decide."""
    escalation_reason: ShortText
    """Why the agent cannot decide."""


class ShadowClone(BaseWrite, tag="shadow_clone", kw_only=True):
    subtasks: Annotated[list[ShortText], Meta(min_length=2, max_length=100)]
    """What the clones do in parallel."""
    clone_count: Annotated[int, Meta(ge=1, le=3)] | None = None
    """How many clones work on it."""


class ThreadCheckpoint(BaseWrite, tag="thread_checkpoint", kw_only=True):
    session_id: Name
    """The session that can be resumed from here."""
    turn_count: Count
    """Turns so far."""
    active_dispatches: Items
    """The dispatches that are under way."""
    open_decisions: Items
    """What is not decided yet."""
    pending_directives: Items
    """The directives that are not followed yet."""
    current_mission_namespaces: Annotated[list[Name], Meta(min_length=1, max_length=100)]
    """The missions that the session works in."""
    working_state_prose: Prose
    """What the next agent needs to know to continue."""


WriteCacheInput = (
    Decision | Directive | Intel | StateChange | Output | Report | Escalation | ShadowClone | ThreadCheckpoint
)


class WriteResult(msgspec.Struct):
    id: int
    """Negative while it waits for a reviewer: no entry has it yet."""
    token_count: int
    """Estimated over the content and every other field that can be read back."""
    cache_total_tokens: int
    """Tokens that the mission now holds."""
    evicted_count: int
    """How many older entries were evicted to keep the mission's budgets."""
    expires_at: datetime
    """When the entry expires, unless it is evicted before."""
    indexed: bool = False
    """Search already finds it by meaning, not only by its words."""
    review: Literal["pending"] | msgspec.UnsetType = msgspec.UNSET
    """`pending`: it is kept, and nobody is shown it before a reviewer approves it. Its lifetime begins then."""


class WriteAnswer(msgspec.Struct):
    data: WriteResult


class BatchInput(Body, kw_only=True):
    """Entries as for a single write. Each is decoded separately, so an invalid one does not fail the others."""

    entries: Annotated[list[msgspec.Raw], Meta(min_length=1, max_length=100)]


class EntriesInput(Body, kw_only=True):
    """Entries as for a single write. Each has its own result, so an invalid one does not fail the others."""

    entries: Annotated[list[WriteCacheInput], Meta(min_length=1, max_length=100)]


class BatchItem(msgspec.Struct, omit_defaults=True):
    """`status` is that of a single write, with `data` if it succeeded, or else `error` as a problem."""

    status: int
    """The status of a single write."""
    data: WriteResult | None = None
    error: dict[str, Any] | None = None
    """The problem, where it was refused."""


class BatchResult(msgspec.Struct):
    entries: list[BatchItem]
    written: int
    """How many were written."""


class BatchAnswer(msgspec.Struct):
    data: BatchResult


class TagsInput(Body, kw_only=True):
    tags: Tags


class DeleteResult(msgspec.Struct):
    deleted_count: int
    freed_tokens: int
    """The estimated tokens that were freed."""


class DeleteAnswer(msgspec.Struct):
    data: DeleteResult


class QueryCacheInput(Body, kw_only=True):
    mission_id: OwnMission = LEFT_OUT
    """`*` means every mission that the key may read."""
    query: Query
    """A question, or what is wanted."""
    language: Language | None = None
    """The language of the query, detected by default."""
    token_budget: Annotated[int, Meta(ge=1, le=16_000)] = 4_000
    """The most tokens of the block."""
    context_types: list[ContextType] | None = None
    """Only these types. An empty list does not filter."""
    tags: AnyTags | None = None
    """Only entries with at least one of these. An empty list does not filter."""
    agent_name: Name | None = None
    dispatch_id: BigId | None = None
    since: datetime | None = None
    """Entries recorded at this time or later. A time without an offset is UTC."""
    until: datetime | None = None
    """Entries recorded before this time."""


class Dropped(msgspec.Struct):
    budget: int
    """Entries that found no room in the budget."""


class QueryResult(msgspec.Struct):
    context_block: str
    """Text for a prompt. Each item begins with a header: `[handle time kind author nonce]`."""
    nonce: str
    """Ends each header of this block. No text in the block holds it."""
    entries: list[CacheEntry]
    """What is in the block, and the same of each: `truncated` ones show a piece."""
    dropped: Dropped
    """How many more entries matched, and why they are left out."""
    total_tokens: int
    """What the block takes, and what the entries hold besides: tags, say. It keeps the budget."""
    cache_size: int
    """How many live entries the searched missions hold."""
    degraded: list[str] = []
    """What could not be searched fully, and why."""


class QueryAnswer(msgspec.Struct):
    data: QueryResult


class EntryAnswer(msgspec.Struct):
    data: CacheEntry


class EntriesAnswer(Page[CacheEntry]):
    """A page of entries, newest first."""


class EntryCursor(Cursor, tag="entries"):
    id: BigId


class Turn(Body, kw_only=True):
    """A turn, identified within its session."""

    content_sha256: Annotated[str, Meta(pattern="^[0-9a-f]{64}$")]
    """The SHA-256 of the content in UTF-8."""
    speaker: Name | None = None
    seq: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None


class TurnsInput(Body, kw_only=True):
    mission_id: Name
    session_id: Name
    turns: Annotated[list[Turn], Meta(min_length=1, max_length=1_000)]
    user_id: Name | None = None
    """The user that the turns are about. Without one, only turns about no user."""


class StoredTurn(msgspec.Struct):
    """The oldest live entry that holds the turn."""

    id: int
    expires_at: datetime
    content_sha256: str
    speaker: str | None
    seq: int | None


class StoredTurns(msgspec.Struct):
    turns: list[StoredTurn]
