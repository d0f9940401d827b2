"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from scrubjay.models.choices import Language


@dataclass(frozen=True, slots=True, kw_only=True)
class Consolidated:
    """How far a run is, and what it changed so far."""

    status: Literal["finished", "nothing_new", "under_way", "unfinished"]
    """`unfinished`: more is left, and the next call goes on. `under_way`: somebody else runs."""
    session_id: str | None
    """The session's id; null for a file."""
    run_id: int | None
    """The run, whose report says more."""
    position: int
    """The last event, or line of the file, that was learned from."""
    through: int
    """The last event, or line of the file, that it is about."""
    opened: int
    """Facts, episodes, commitments and other names that are new."""
    closed: int
    """Facts that no longer hold because of it."""
    confirmed: int
    """Facts, episodes and commitments that were known."""
    disputed: int
    """Facts of other sources that it contradicts. They stay, and it stands beside them."""
    skipped: dict[str, int]
    """How many turns or parts of turns it did not learn from, by reason."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationChange:
    """A row that a run opened, closed, confirmed or found disputed."""

    number: int
    """Its place in the run."""
    kind: Literal["alias", "commitment", "episode", "fact"]
    """What it is about."""
    action: Literal["closed", "confirmed", "disputed", "opened", "replaced", "skipped"]
    """`replaced`: a fact of the same value that holds for longer took its place. `skipped`: it was not
    written.
    """
    item_id: int | None = None
    """The id of the fact, the episode or the commitment."""
    turns: list[int] = field(default_factory=list)
    """The events of the session that it comes from; of a file, the lines on which the passages begin."""
    trust: Literal["agent", "derived", "document", "imported", "tool", "user"] | None = None
    """Whom it comes from. Of several, who is trusted least."""
    why: str | None = None
    """Why it was closed, or not written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationChanges:
    """A page of changes, in their order."""

    data: list[ConsolidationChange]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationRun:
    """What a run over a session or a file did."""

    id: int
    """Its id, unique in the tenant."""
    scope: str
    """Where all that it learned lies."""
    session_id: str | None
    """The session that it belongs to."""
    path: str | None
    """The file, if it was over a file."""
    agent_name: str | None
    """The agent of the session."""
    mission_id: str | None
    """The mission of the session."""
    user_id: str | None
    """The user of the session."""
    after: int
    """It is about the session's events behind this one, up to `through`."""
    through: int
    """The last event, or the last line of the file, that it is about."""
    position: int
    """How far it is."""
    status: Literal["finished", "running", "undone"]
    """A run that was broken off stays `running` until the next call goes on with it."""
    tally: Tally
    """How many rows it changed."""
    skipped: dict[str, int]
    """How many turns or parts of turns it did not learn from, by reason."""
    written_by: str
    """The key that began it."""
    started_at: datetime
    """When it began."""
    finished_at: datetime | None
    """Null: it is under way, or was broken off."""
    undone_at: datetime | None
    """When it was undone, if it was."""
    undone_by: str | None
    """The key that undid it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationRuns:
    """A page of runs, newest first."""

    data: list[ConsolidationRun]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeletedMemory:
    deleted: int
    """The id of the memory that is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DueCommitments:
    """A page of commitments, the one that is due first first."""

    data: list[LongTermMemory]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundLongTerm:
    id: int
    """Its id, unique in the tenant."""
    kind: Literal["commitment", "episode", "knowledge", "preference", "summary"]
    """`preference`, `knowledge` and `summary` are documents."""
    scope: str
    """Where it belongs: `mission:…`, `agent:…`, `user:…`, `project:…` or `shared`."""
    content: str
    """The text."""
    created_at: datetime
    """When it was stored."""
    updated_at: datetime
    """When it was last changed."""
    agent_name: str | None = None
    """The agent that wrote it."""
    user_id: str | None = None
    """The user it is about."""
    topics: list[str] = field(default_factory=list)
    """What it is about, in a few words."""
    tone: str | None = None
    """The mood of an episode."""
    ended_at: datetime | None = None
    """When an episode ended."""
    owed_by: str | None = None
    """Who made the promise."""
    owed_to: str | None = None
    """To whom it was made."""
    due_at: datetime | None = None
    """When the promise is due."""
    status: Literal["cancelled", "done", "expired", "open"] | None = None
    """Of a commitment. It is `expired` from the moment when an open one is due."""
    occurred_at: datetime | None = None
    """When it happened, where that was said."""
    session_id: str | None = None
    """The session that it belongs to."""
    seq: int | None = None
    """Its place in the session."""
    speaker: str | None = None
    """Who said it, where that is not the agent."""
    language: Language | None = None
    """The language that its writer named, or its tenant's where the content is too short to tell."""
    paths: list[str] = field(default_factory=list)
    """The files that its writer says it is about."""
    symbols: list[str] = field(default_factory=list)
    """The names in code that its writer says it is about."""
    step: Literal["diff", "edit", "plan", "read", "run", "test"] | None = None
    """The kind of step that its writer says it is."""
    written_by: str = ""
    """The key that wrote it."""
    source_kind: Literal["agent", "derived", "document", "imported", "tool", "user"] = "agent"
    """How it came to be known."""
    source_claim: Literal["agent", "derived", "document", "imported", "tool", "user"] | None = None
    """What its writer says the source is, where its key may not say so."""
    recalled_from: int | None = None
    """The assembly that led to it."""
    origin: str | None = None
    """The system that it was imported from, and its id there."""
    superseded_by: int | None = None
    """The newer memory that a write said supersedes it."""
    score: float = 0.0
    """The relevance, from 0 to 1."""
    truncated: bool = False
    """The content is the chunk that matched; `GET /api/memory/{id}` has the whole memory."""
    chunk: int | None = None
    """Which chunk of a long memory it is, counted from 0."""
    chunks: int | None = None
    """How many chunks the memory has."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundLongTerms:
    memories: list[FoundLongTerm]
    """The most relevant first."""
    arm: Literal["both", "text", "vector"]
    """Which arm of the search found them. `text` needed no embedding of the query."""
    degraded: list[str]
    """What could not be searched fully, and why."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LongTermMemories:
    """A page of memories, newest first."""

    data: list[LongTermMemory]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LongTermMemory:
    id: int
    """Its id, unique in the tenant."""
    kind: Literal["commitment", "episode", "knowledge", "preference", "summary"]
    """`preference`, `knowledge` and `summary` are documents."""
    scope: str
    """Where it belongs: `mission:…`, `agent:…`, `user:…`, `project:…` or `shared`."""
    content: str
    """The text."""
    created_at: datetime
    """When it was stored."""
    updated_at: datetime
    """When it was last changed."""
    agent_name: str | None = None
    """The agent that wrote it."""
    user_id: str | None = None
    """The user it is about."""
    topics: list[str] = field(default_factory=list)
    """What it is about, in a few words."""
    tone: str | None = None
    """The mood of an episode."""
    ended_at: datetime | None = None
    """When an episode ended."""
    owed_by: str | None = None
    """Who made the promise."""
    owed_to: str | None = None
    """To whom it was made."""
    due_at: datetime | None = None
    """When the promise is due."""
    status: Literal["cancelled", "done", "expired", "open"] | None = None
    """Of a commitment. It is `expired` from the moment when an open one is due."""
    occurred_at: datetime | None = None
    """When it happened, where that was said."""
    session_id: str | None = None
    """The session that it belongs to."""
    seq: int | None = None
    """Its place in the session."""
    speaker: str | None = None
    """Who said it, where that is not the agent."""
    language: Language | None = None
    """The language that its writer named, or its tenant's where the content is too short to tell."""
    paths: list[str] = field(default_factory=list)
    """The files that its writer says it is about."""
    symbols: list[str] = field(default_factory=list)
    """The names in code that its writer says it is about."""
    step: Literal["diff", "edit", "plan", "read", "run", "test"] | None = None
    """The kind of step that its writer says it is."""
    written_by: str = ""
    """The key that wrote it."""
    source_kind: Literal["agent", "derived", "document", "imported", "tool", "user"] = "agent"
    """How it came to be known."""
    source_claim: Literal["agent", "derived", "document", "imported", "tool", "user"] | None = None
    """What its writer says the source is, where its key may not say so."""
    recalled_from: int | None = None
    """The assembly that led to it."""
    origin: str | None = None
    """The system that it was imported from, and its id there."""
    superseded_by: int | None = None
    """The newer memory that a write said supersedes it."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many rows a run changed."""

    opened: int
    """Facts, episodes, commitments and other names that are new."""
    closed: int
    """Facts that no longer hold because of it."""
    replaced: int
    """Facts that a longer one of the same value took the place of."""
    confirmed: int
    """Facts, episodes and commitments that were known."""
    disputed: int
    """Facts of other sources that it contradicts, and that stand beside what it says."""
    skipped: int
    """What it did not write, each with the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoneRun:
    """What became of the rows of a run that was undone."""

    run: ConsolidationRun
    """The run, now undone."""
    withdrawn: int
    """Facts, episodes, commitments and other names that the run had opened, and that are no longer there."""
    reopened: int
    """Facts that are as they were before the run."""
    kept: int
    """Rows that are left as they are, because somebody changed them after the run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteMemoryInput:
    paths: list[str] = field(default_factory=list)
    """The files that it is about. A question that names one finds it, by the last two segments or more."""
    symbols: list[str] = field(default_factory=list)
    """The names in code that it is about. A question that holds one finds it."""
    step: Literal["diff", "edit", "plan", "read", "run", "test"] | None = None
    """Which kind of step it records. When left out, an entry's text decides."""
    occurred_at: datetime | None = None
    """When it happened, by default now and never later. A time without an offset is UTC."""
    session_id: str | None = None
    """The session it was said in: any string."""
    seq: int | None = None
    """Its number in the session."""
    speaker: str | None = None
    """Who said it, if not the agent. A block shows it as the agent's claim."""
    user_id: str | None = None
    """The user it is about, or who said it. A purge of the user erases it."""
    language: Language | None = None
    """The language of its text, whose inflections search then knows. When left out, it is detected."""
    source_kind: Literal["agent", "derived", "document", "imported", "tool", "user"] = "agent"
    """The kind of source it is from. For a key that is bound to an agent, `user` is only a claim of the
    agent. Default: `"agent"`.
    """
    recalled_from: int | str | None = None
    """The assembly that led to it. This counts as weak feedback."""
    kind: Literal["commitment", "episode", "knowledge", "preference", "summary"]
    """`preference`, `knowledge` and `summary` are documents. An `episode` is what happened; a `commitment`
    is what somebody promised.
    """
    content: str
    """What to remember, in its own words."""
    scope: str | None = None
    """Who finds it: `user:…`, `agent:…`, `mission:…`, `project:…` or `shared`. Left out, the user's, or
    else the agent's.
    """
    agent_name: str | None = None
    """The agent that writes it."""
    topics: list[str] = field(default_factory=list)
    """What it is about, in a few words. A question that uses them finds it."""
    tone: str | None = None
    """The mood of an episode, such as `relieved`."""
    ended_at: datetime | None = None
    """When an episode ended. It began at `occurred_at`."""
    owed_by: str | None = None
    """Who made the promise."""
    owed_to: str | None = None
    """To whom it was made."""
    due_at: datetime | None = None
    """When the promise is due. An open commitment expires then. A time without an offset is UTC."""
    origin: str | None = None
    """The system that it is imported from, and its id there, such as `mem0:8f2b…`. The scope keeps one
    memory of this kind and origin: writing it again changes nothing, even if its text was changed in
    the meantime.
    """
    supersedes: int | str | None = None
    """An older memory of the same scope that no longer holds. It stays readable, but leaves context
    blocks.
    """


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenMemories:
    """The results, in the order of the request."""

    results: list[WrittenMemory]
    """One for each memory of the request."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenMemory:
    id: int
    """Negative while it waits for a reviewer: no memory has it yet."""
    scope: str
    """Where it was stored."""
    status: Literal["created", "known"]
    """`known`: the scope had it already, unchanged."""
    expires_at: datetime | None
    """Always null: it is kept until it is deleted."""
    review: Literal["pending"] | None = None
    """`pending`: it is kept, and nobody is shown it before a reviewer approves it."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""
