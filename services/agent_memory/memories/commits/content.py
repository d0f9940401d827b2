"""What a memory states, and how a repetition of its fact changes it. Pure.

Users and agents are trusted; tools, documents, derived and imported texts are not. A repetition from a less trusted
source changes only `private`. One from a more trusted source replaces everything. Between equal sources the first
wording stays, the latest type and outcome apply, and the repetition fills in what the first left out.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

import msgspec

from services.agent_memory.memories.schemas import CommitAgentMemoryInput, EditAgentMemoryInput, TaskContext
from shared.auth import Principal
from shared.provenance import TRUSTED, Origin, SourceKind, utc
from shared.search.languages.detection import certain_language
from shared.text import Language, Step

_EDITABLE = ("memory_type", "private", "paths", "symbols", "step")


class MemoryContent(msgspec.Struct, frozen=True, kw_only=True):
    """The columns of a memory that a commit states. A repetition may change all except the user."""

    content: str
    memory_type: str
    task_description: str | None = None
    skills_used: list[str] = []
    outcome: str | None = None
    mission_namespace: str | None = None
    private: bool = False
    occurred_at: datetime | None = None
    session_id: str | None = None
    seq: int | None = None
    speaker: str | None = None
    user_id: str | None = None
    language: Language | None = None
    """None: it is detected."""
    paths: list[str] = []
    symbols: list[str] = []
    step: Step | None = None
    written_by: str
    source_kind: SourceKind = "agent"
    source_claim: SourceKind | None = None
    recalled_from: int | None = None
    dispatch_id: int | None = None

    @property
    def trusted(self) -> bool:
        return self.source_kind in TRUSTED


def committed(principal: Principal, memory: CommitAgentMemoryInput) -> MemoryContent:
    origin = Origin.of(principal, memory.source_kind)
    return MemoryContent(
        content=memory.content,
        memory_type=memory.memory_type,
        **task_columns(memory.task_context),
        private=memory.private,
        occurred_at=utc(memory.occurred_at),
        session_id=memory.session_id,
        seq=memory.seq,
        speaker=memory.speaker,
        user_id=memory.user_id,
        language=memory.language or _unless_certain(principal.language, memory.content),
        paths=memory.paths,
        symbols=memory.symbols,
        step=memory.step,
        written_by=principal.key,
        source_kind=origin.kind,
        source_claim=origin.claim,
        recalled_from=memory.recalled_from,
        dispatch_id=memory.dispatch_id,
    )


def _unless_certain(language: Language | None, content: str) -> Language | None:
    """The tenant's language, unless the content tells its own. It is kept, so that the memory may be indexed again."""
    return None if language is None or certain_language(content) is not None else language


def task_columns(task: TaskContext | None) -> dict[str, Any]:
    return {} if task is None else msgspec.structs.asdict(task)


def edited(stored: MemoryContent, change: EditAgentMemoryInput, principal: Principal) -> MemoryContent:
    """The editor's key and source replace the stored ones only if the text changes."""
    replaced = {field: value for field in _EDITABLE if (value := getattr(change, field)) is not None}
    replaced |= task_columns(change.task_context)
    if change.content is not None and change.content != stored.content:
        origin = Origin.of(principal, change.source_kind)
        replaced |= {
            "content": change.content,
            "language": change.language or _unless_certain(principal.language, change.content),
            "written_by": principal.key,
            "source_kind": origin.kind,
            "source_claim": origin.claim,
        }
    return msgspec.structs.replace(stored, **replaced)


def require_mission(principal: Principal, task: TaskContext | None) -> None:
    """Raises Forbidden for a task in a mission that the key has no grant for."""
    if task is not None and task.mission_namespace is not None:
        principal.require_mission(task.mission_namespace)


def may_change(principal: Principal, mission: str | None, written_by: str) -> bool:
    """Whether the principal's missions let it change a memory of its agent, learned in `mission` by the key.

    A memory of no mission is the agent's: a key bound to missions but to no agent changes only those it wrote.
    """
    if principal.missions is None:
        return True
    if mission is None:
        return principal.agent is not None or written_by == principal.key
    return mission in principal.missions


def merge(stored: MemoryContent, repetition: MemoryContent) -> MemoryContent:
    """The result is private if either is: repeating a private fact never reveals it."""
    private = stored.private or repetition.private
    if stored.trusted != repetition.trusted:
        return msgspec.structs.replace(stored if stored.trusted else repetition, private=private)
    return msgspec.structs.replace(
        stored,
        memory_type=repetition.memory_type,
        outcome=repetition.outcome or stored.outcome,
        task_description=stored.task_description or repetition.task_description,
        skills_used=stored.skills_used or repetition.skills_used,
        mission_namespace=stored.mission_namespace or repetition.mission_namespace,
        dispatch_id=stored.dispatch_id or repetition.dispatch_id,
        paths=stored.paths or repetition.paths,
        symbols=stored.symbols or repetition.symbols,
        step=stored.step or repetition.step,
        private=private,
    )
