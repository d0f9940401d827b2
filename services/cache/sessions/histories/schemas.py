"""Response bodies of histories."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import msgspec
from msgspec import Meta

from services.cache.sessions.objects.schemas import ObjectType
from services.cache.sessions.paging.fidelity import Fidelity, Trigger, Zone
from shared.paging.cursors import Cursor
from shared.paging.pages import Page

FaultKind = Literal["full_restore", "micro_fault", "entropy_triggered"]
Number = Annotated[int, Meta(ge=0, le=2**63 - 1)]


class Fault(msgspec.Struct, omit_defaults=True, kw_only=True):
    """An object that was brought back, or that answered a question."""

    id: UUID
    object_id: UUID
    fault_type: FaultKind
    """`micro_fault`: a question was answered and the object stayed as it was. The others brought it back whole."""
    turn_number: int
    """How many turns had ended."""
    content_hash: str
    """The SHA-256 of the whole content, in hexadecimal. Contents that come back often are pinned for longer."""
    created_at: datetime
    latency_ms: int | None = None
    """How long it took."""
    question: str | None = None
    """What was asked, of a micro-fault."""
    answer: str | None = None
    """What was answered, of a micro-fault."""
    answer_tokens: int | None = None
    """Tokens of the answer."""
    avoided_tokens: int | None = None
    """Tokens that bringing the object back would have taken beyond the answer."""


class Faults(Page[Fault]):
    """A page of faults, in their order."""


class FaultCursor(Cursor, tag="session_faults"):
    number: Number


class Transition(msgspec.Struct, kw_only=True):
    """A change of an object's fidelity."""

    id: UUID
    object_id: UUID
    from_fidelity: Fidelity
    """How much of it the context held."""
    to_fidelity: Fidelity
    """How much of it the context holds from then on."""
    trigger: Trigger
    """`pressure`: a batch. `access`: it was read again, or a new version came. `cooperative`: it was released."""
    turn_number: int
    """How many turns had ended."""
    pressure_zone: Zone | None
    """How pressing it was before the change."""
    token_count: int | None
    """Tokens of all objects before the change."""
    created_at: datetime


class Transitions(Page[Transition]):
    """A page of changes of fidelity, in their order."""


class TransitionCursor(Cursor, tag="session_transitions"):
    number: Number


class ListedObject(msgspec.Struct, kw_only=True):
    """An object without its text."""

    id: UUID
    object_type: ObjectType
    source_key: str | None
    segment: int
    """Which part of its source it is, counted from 0."""
    current_fidelity: Fidelity
    """0: whole. 1: a detailed summary. 2: a compact one. 3: one line. 4: nothing."""
    pinned: bool
    """It keeps its fidelity, except in an emergency."""
    pinned_until: int | None
    """The last turn in which it is pinned; null with `pinned`: until it is unpinned."""
    superseded_by: UUID | None
    """The newer version of it."""
    stub: str
    """One line that stands for it."""
    tokens_l0: int
    """Tokens of all of it."""
    tokens_l1: int | None
    """Tokens of the detailed summary; null: there is none."""
    tokens_l2: int | None
    """Tokens of the compact summary; null: there is none."""
    tokens_l3: int
    """Tokens of the line that stands for it."""
    fault_count: int
    """How often it was brought back whole."""
    created_turn: int
    """How many turns had ended when it came."""
    last_accessed_turn: int
    """How many turns had ended when it was last used."""
    created_at: datetime


class ListedObjects(Page[ListedObject]):
    """A page of objects, in the order in which they came."""


class ObjectCursor(Cursor, tag="session_objects"):
    number: Number


class AdmissionScore(msgspec.Struct, kw_only=True):
    """Why a part of what was read became an object, or did not."""

    id: UUID
    object_id: UUID | None
    """Null: it was rejected."""
    admitted: bool
    """Whether it became an object."""
    score_total: float
    """The weighted sum of the other scores."""
    score_type: float
    """How useful its type is."""
    score_novelty: float
    """How much of it the session does not hold yet."""
    score_utility: float
    """How much it says for its length."""
    score_recency: float
    """How few turns ago it is from."""
    threshold: float
    """From this total on, it is admitted."""
    content_preview: str | None
    """The first 200 characters."""
    created_at: datetime


class Admissions(Page[AdmissionScore]):
    """A page of admissions, in their order."""


class AdmissionCursor(Cursor, tag="session_admissions"):
    number: Number
