"""Request and response bodies of semantic objects."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import Meta, field

from services.cache.sessions.paging.fidelity import Fidelity, Zone
from shared.body import Body
from shared.text import Name, ShortText, Tags

ObjectType = Literal[
    "conversation_phase",
    "design_decision",
    "debugging_session",
    "file_context",
    "tool_result",
    "plan",
    "error_context",
    "external_reference",
]
Admission = Literal["created", "touched", "superseding", "rejected"]
FaultType = Literal["full_restore", "entropy_triggered"]
ObjectContent = Annotated[str, Meta(min_length=1, max_length=1_048_576)]
SourceKey = Annotated[str, Meta(min_length=1, max_length=1_000)]
Turn = Annotated[int, Meta(ge=0, le=2**31 - 1)]
Hints = Annotated[list[ShortText], Meta(max_length=20)]
Ids = Annotated[list[UUID], Meta(max_length=1_000)]

_BACKWARDS = "must not be smaller than source_turn_start"


class AdmitInput(Body, kw_only=True):
    """Something that the agent read or made, and that its context holds from now on."""

    content: ObjectContent
    """All of it. It becomes one object for each function, class, section, hunk or value; a fault brings back exactly
    its part."""
    object_type: ObjectType
    source_tool: Name | None = None
    """The tool that it comes from, such as Read."""
    source_key: SourceKey | None = None
    """What it is a version of, such as the path of a file: another content of the same key supersedes it. The name of a
    file also tells its language."""
    partial: bool | None = None
    """Whether it is a part of its source, such as some lines of a file. `true`: lines that an object of the source
    holds bring it back, others become new objects, and what the part lacks stays as it is. `false`: it is all of the
    source, and a stub is left of what it lacks. By default, content that stands in objects of the source as it is
    counts as a part, and any other as all of it."""
    fault_when: Hints = field(default_factory=list)
    """When the agent will need it whole again."""
    tags: Tags = field(default_factory=list)
    source_turn_start: Turn | None = None
    """The first turn it is from."""
    source_turn_end: Turn | None = None
    """The last turn it is from."""

    def checks(self) -> Iterator[tuple[str, str]]:
        turns = self.source_turn_start, self.source_turn_end
        if turns[0] is not None and turns[1] is not None and turns[1] < turns[0]:
            yield "source_turn_end", _BACKWARDS


class Admitted(msgspec.Struct, omit_defaults=True, kw_only=True):
    """What became of one part."""

    status: Admission
    """`touched`: this object of the same source holds the content, or some of it. `superseding`: a new version.
    `rejected`: it names no source, and the context shows nearly all of its lines already. Nothing of it is kept; a host
    that needs it once more keeps it in its own messages."""
    id: UUID | None = None
    """The object that holds it; none if it was rejected."""
    tokens: int
    supersedes: UUID | None = None
    """The older version, of which a stub is left."""
    fidelity: Fidelity = 0
    """How much of it the context shows."""
    score: float | None = None
    """Of what was rejected: below the threshold of 0.35."""
    like: UUID | None = None
    """Of what was rejected: the object that shows most of its lines. It counts as accessed."""


class AdmittedObjects(msgspec.Struct):
    objects: list[Admitted]
    """The parts of the content, in their order; of a part of a source, first the objects that hold some of it."""
    stale: list[UUID]
    """Objects of the same source that the new version no longer has; a stub of each is left."""


class SemanticObject(msgspec.Struct, kw_only=True):
    """An object of a session's context."""

    id: UUID
    object_type: ObjectType
    source_tool: str | None
    source_key: str | None
    segment: int
    """Which part of its source it is, counted from 0."""
    current_fidelity: Fidelity
    """0: whole. 1: a detailed summary. 2: a compact one. 3: one line. 4: nothing."""
    pinned: bool
    """It keeps its fidelity, except in an emergency."""
    pinned_until: int | None
    """The last turn in which it is pinned; null with `pinned`: until it is unpinned."""
    pin_reason: str | None
    superseded_by: UUID | None
    """The newer version of it."""
    content: str | None
    """At its fidelity; null if it is evicted."""
    stub: str
    losses_l1: list[str]
    """What the detailed summary does not say."""
    losses_l2: list[str]
    """What the compact summary does not say, and the detailed one does."""
    can_answer_l1: list[str]
    can_answer_l2: list[str]
    fault_when: list[str]
    key_entities: list[str]
    tags: list[str]
    tokens_l0: int
    tokens_l1: int | None
    tokens_l2: int | None
    tokens_l3: int
    access_count: int
    fault_count: int
    micro_fault_count: int
    created_turn: int
    last_accessed_turn: int
    created_at: datetime
    last_accessed: datetime
    source_turn_start: int | None
    source_turn_end: int | None
    start_line: int | None
    """Where it begins in its source, counted from 1."""
    end_line: int | None


class ObjectAnswer(msgspec.Struct):
    data: SemanticObject


class ShownObject(msgspec.Struct, omit_defaults=True, kw_only=True):
    """An object as the block shows it."""

    id: UUID
    object_type: ObjectType
    fidelity: Fidelity
    """How the block shows it."""
    current_fidelity: Fidelity
    """How the next block shows it, once a batch has made it anew."""
    tokens: int
    pinned: bool = False
    """It keeps its fidelity, except in an emergency."""
    source_key: str | None = None
    key_entities: list[str] = []
    tags: list[str] = []


class SessionContext(msgspec.Struct):
    """The objects of a session within its budget, in the order in which they came."""

    context_block: str
    """Each object under a header `[object:id time type level nonce]`. Text that was sent once keeps its bytes and its
    place until the end of a turn makes the block anew."""
    nonce: str
    """The last word of every header. No text of the block holds it."""
    objects: list[ShownObject]
    """In the order of the block."""
    total_tokens: int


class Pressure(msgspec.Struct):
    """How much of its budget a session's context takes."""

    zone: Zone
    share: float
    """The tokens over the budget."""
    total_context_tokens: int
    """Of every object at its fidelity."""
    block_tokens: int
    """Of the block as it is now. It differs until a batch makes it anew."""
    token_budget: int
    objects_at_l0: int
    objects_at_l1: int
    objects_at_l2: int
    objects_at_l3: int
    objects_evicted: int
    objects_pinned: int
    turn: int
    """How many turns have ended."""


class FaultInput(Body, kw_only=True):
    fault_type: FaultType = "full_restore"
    """`entropy_triggered`: the host's model was uncertain without it."""


class Restored(msgspec.Struct):
    """An object that is whole again."""

    data: SemanticObject
    restored: bool
    """False: it was whole already."""
    related: list[UUID]
    """Objects within two relations that came up with it, because the budget allows it."""


class PinInput(Body, kw_only=True):
    reason: ShortText | None = None
    """Why it must stay."""
    turns: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    """For so many turns; by default until it is unpinned."""


class ReleaseInput(Body, kw_only=True):
    fidelity: Annotated[int, Meta(ge=1, le=4)] = 3
    """What to leave of it: 1 and 2 a summary, 3 a line, 4 nothing. Without such a summary, a line is left."""


class TurnInput(Body, kw_only=True):
    """The end of a turn."""

    accessed: Ids = field(default_factory=list)
    """Objects that the turn used: they stay whole for longer."""
    released: Ids = field(default_factory=list)
    """Objects that the agent no longer needs: a line of each is left."""
    admit: Annotated[list[AdmitInput], Meta(max_length=32)] = field(default_factory=list)
    """What came in since, such as the results of tools: the next turn begins with it, after a batch of this one."""
    context: bool = False
    """Whether the answer holds the context with which the next turn begins."""


class TurnEnded(msgspec.Struct):
    turn: int
    """How many turns have ended."""
    batch: bool
    """The block was made anew."""
    moved: int
    """How many objects changed their fidelity at the end of the turn."""
    pressure: Pressure
    admitted: list[AdmittedObjects] = []
    """What became of each content that came in, in their order."""
    context: SessionContext | None = None
    """With which the next turn begins, where it was asked for."""
