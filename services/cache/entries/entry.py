"""An entry as reads return it: in the shape of a write, with the fields that the service adds."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

import asyncpg
import msgspec

from shared.provenance import SourceKind
from shared.text import Step


class CommonFields(msgspec.Struct, omit_defaults=True, kw_only=True):
    """The fields that every entry has."""

    id: int
    mission_id: str
    context_type: str
    content: str
    token_count: int
    """Estimated over the content and every other field that can be read back."""
    created_at: datetime
    expires_at: datetime
    """When it expires, unless it is evicted before."""
    agent_name: str | None = None
    """Who wrote it."""
    tags: list[str] = []
    paths: list[str] = []
    """The files that its writer says it is about."""
    symbols: list[str] = []
    """The names in code that its writer says it is about."""
    step: Step | None = None
    """The kind of step that its writer says it is."""
    source_turn: int | None = None
    """The turn of the conversation it comes from."""
    dispatch_id: int | None = None
    """The dispatch it was written for."""
    session_id: str | None = None
    """The session it was said in, or the session that a checkpoint can resume."""
    seq: int | None = None
    """Its number in the session."""
    speaker: str | None = None
    """Who said it, if not the agent."""
    user_id: str | None = None
    """The user it is about, or who said it."""
    occurred_at: datetime | None = None
    """When it happened, if not when it was written."""
    source_kind: SourceKind = "agent"
    """The kind of source it is from."""
    source_claim: SourceKind | None = None
    """What its writer says the source is, where its key may not say so."""
    recalled_from: int | None = None
    """The assembly that led to it."""
    superseded_by: int | None = None
    """The newer entry that supersedes it, as its writer stated."""


class BranchFields(CommonFields, omit_defaults=True, kw_only=True):
    """The fields that some types have; an entry has those of its own type."""

    decision_rationale: str | None = None
    """Why."""
    decision_alternatives: list[str] | None = None
    """The alternatives that were not chosen."""
    directive_target: str | None = None
    """Who must follow it."""
    directive_priority: str | None = None
    """How urgent it is."""
    intel_source: str | None = None
    """Where it comes from."""
    intel_confidence: str | None = None
    """How sure its writer is."""
    state_from: str | None = None
    """The state before."""
    state_to: str | None = None
    """The state after."""
    state_trigger: str | None = None
    """What caused it."""
    output_url: str | None = None
    """Where to find the work."""
    output_summary: str | None = None
    """What the work is."""
    report_dispatch_id: int | None = None
    """The dispatch that it reports on."""
    report_outcome: str | None = None
    """How the dispatch ended."""
    escalation_target: str | None = None
    """Who must decide."""
    escalation_reason: str | None = None
    """Why the agent cannot decide."""
    subtasks: list[str] | None = None
    """What the clones do in parallel."""
    clone_count: int | None = None
    """How many clones work on it."""
    turn_count: int | None = None
    """Turns so far."""
    active_dispatches: list[str] | None = None
    """Open dispatches."""
    open_decisions: list[str] | None = None
    """Decisions still to make."""
    pending_directives: list[str] | None = None
    """Directives still to follow."""
    current_mission_namespaces: list[str] | None = None
    """The missions that the session works in."""
    working_state_prose: str | None = None
    """What the next agent needs to know to continue."""


class CacheEntry(BranchFields, omit_defaults=True, kw_only=True):
    """An entry as lists and queries show it. Without what the service sets, it can be written again.

    The service sets `id`, `token_count`, `created_at`, `expires_at`, `source_claim` and `superseded_by`, and
    in queries `relevance` and what follows it.
    """

    relevance: float | None = None
    """In [0, 1], only in queries."""
    recency: float | None = None
    """In [0.5, 1], only in queries."""
    truncated: bool = False
    """The content is the piece that matched; tags, paths, symbols and the fields of its type are left out. Of queries
    only."""
    chunk: int | None = None
    """Which chunk of a long entry the piece is from, counted from 0; `/all/entries/{id}` has the whole entry."""
    chunks: int | None = None
    """How many chunks the entry has."""

    @classmethod
    def from_row(cls, row: Mapping[str, Any] | asyncpg.Record, **more: Any) -> CacheEntry:
        """`row` has the columns of an entry, and possibly others. `more` are fields that no column holds."""
        return cls(**{name: row[name] for name in _COLUMNS}, **row["metadata"], **more)


_COLUMNS = CommonFields.__struct_fields__
