"""Request and response bodies of persistent objects."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated
from uuid import UUID

import asyncpg
import msgspec
from msgspec import Meta

from services.cache.sessions.objects.schemas import ObjectType
from shared.body import Body
from shared.paging.cursors import Cursor
from shared.paging.pages import Page
from shared.provenance import SourceKind
from shared.search.experience import decayed
from shared.text import SEEN

# More than any object of a session has.
KeptContent = Annotated[str, Meta(min_length=1, max_length=20_000, pattern=SEEN)]


class PersistInput(Body, kw_only=True):
    """What to keep of an object for the session's user."""

    content: KeptContent | None = None
    """What of it is worth keeping, in the agent's own words. When left out, the object is kept whole."""


class PersistentObject(msgspec.Struct, kw_only=True):
    """What was kept for a user, across all sessions with this user."""

    id: UUID
    number: int
    """Its number in handles, `persistent:<number>`."""
    user_id: str
    """The user it was kept for. A purge of the user erases it."""
    object_type: ObjectType
    content: str
    agent_name: str | None
    """The agent that first kept it."""
    source_kind: SourceKind
    source_object_id: UUID | None
    """The object of which it was first kept; null when its session was erased."""
    source_session_id: UUID | None
    """The session in which it was first kept; null when it was erased."""
    confidence: float
    """How sure it is now, up to 1. It halves with every 30 days in which nobody reinforces it."""
    reinforcements: int
    """How often it was kept again or confirmed."""
    last_reinforced: datetime
    """When its confidence last rose. From then on it falls."""
    created_at: datetime

    @classmethod
    def from_row(cls, row: asyncpg.Record) -> PersistentObject:
        """`row` tells the database's time as `now`."""
        columns = {name: row[name] for name in COLUMNS}
        left = decayed(row["confidence"], row["last_reinforced"], row["now"])
        return cls(**{**columns, "confidence": round(left, 4)})


COLUMNS = PersistentObject.__struct_fields__


class PersistentAnswer(msgspec.Struct):
    data: PersistentObject


class KeptObject(msgspec.Struct):
    """What became of an object that was kept."""

    id: UUID
    """What it is among the user's persistent objects."""
    created: bool
    """False: the user had the same content already, and it was reinforced, unless the key may not reinforce it."""
    confidence: float
    reinforcements: int
    """How often it was kept again or confirmed."""


class PersistentObjects(Page[PersistentObject]):
    """A page of what was kept for a user, newest first."""


class PersistentCursor(Cursor, tag="persistent_objects"):
    number: int


class ForgottenObject(msgspec.Struct):
    id: UUID
    """Nothing of it is left. The session's own object stays, if the session is there."""
