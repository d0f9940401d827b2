"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class ForgottenObject:
    id: str
    """Nothing of it is left. The session's own object stays, if the session is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersistentAnswer:
    data: PersistentObject
    """The answer: one object, or a page of them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersistentObject:
    """What was kept for a user, across all sessions with this user."""

    id: str
    """Its id, unique in the tenant."""
    number: int
    """Its number in handles, `persistent:<number>`."""
    user_id: str
    """The user it was kept for. A purge of the user erases it."""
    object_type: Literal[
        "conversation_phase",
        "debugging_session",
        "design_decision",
        "error_context",
        "external_reference",
        "file_context",
        "plan",
        "tool_result",
    ]
    """What kind of thing it is."""
    content: str
    """The text."""
    agent_name: str | None
    """The agent that first kept it."""
    source_kind: Literal["agent", "derived", "document", "imported", "tool", "user"]
    """How it came to be known."""
    source_object_id: str | None
    """The object of which it was first kept; null when its session was erased."""
    source_session_id: str | None
    """The session in which it was first kept; null when it was erased."""
    confidence: float
    """How sure it is now, up to 1. It halves with every 30 days in which nobody reinforces it."""
    reinforcements: int
    """How often it was kept again or confirmed."""
    last_reinforced: datetime
    """When its confidence last rose. From then on it falls."""
    created_at: datetime
    """When it was stored."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersistentObjects:
    """A page of what was kept for a user, newest first."""

    data: list[PersistentObject]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""
