"""The lines of exports and imports, and what became of them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import msgspec
from msgspec import Meta, field

from services.agent_memory.memories.schemas import Confirmation, MemoryType, TaskContext
from shared.body import Body
from shared.provenance import Seq, SourceKind
from shared.text import AnyContent, BigId, Language, Name, Paths, Step, Symbols

# JavaScript's largest safe integer.
_KeptId = Annotated[int, Meta(gt=0, lt=2**53)]
_Times = Annotated[int, Meta(ge=0, lt=2**53)]


class ExportedMemory(Body, kw_only=True):
    """One line of an export. It has no vectors, because the importer computes them from the text."""

    id: _KeptId
    agent_name: Name
    content: AnyContent
    memory_type: MemoryType
    task_context: TaskContext | None = None
    private: bool = False
    occurred_at: datetime | None = None
    session_id: Name | None = None
    seq: Seq | None = None
    speaker: Name | None = None
    user_id: Name | None = None
    language: Language | None = None
    """The language that its writer named, or its tenant's where the content is too short to tell."""
    paths: Paths = field(default_factory=list)
    """The files that its writer says it is about."""
    symbols: Symbols = field(default_factory=list)
    """The names in code that its writer says it is about."""
    step: Step | None = None
    """The kind of step that its writer says it is."""
    written_by: Name
    source_kind: SourceKind
    recalled_from: BigId | None = None
    dispatch_id: BigId | None = None
    pending: bool = False
    """Its duplicates are not looked for yet."""
    access_count: _Times = 0
    confirmed_count: _Times = 0
    confirmed_at: datetime | None = None
    created_at: datetime
    updated_at: datetime
    confirmations: list[Confirmation] = field(default_factory=list)


class ImportResult(msgspec.Struct):
    """`remapped`: {id in the file: id here} where another memory has the id, no memory here ever had one so high, or
    the fact was known. The ids of memories that one in the file had absorbed follow."""

    imported: int
    """How many lines became memories."""
    already_there: int
    """How many lines said what their agent knew."""
    remapped: dict[int, int]
    """Ids that changed, by the id in the file."""
