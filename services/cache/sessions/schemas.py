"""Request and response bodies of sessions."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Literal
from uuid import UUID

import asyncpg
import msgspec
from msgspec import Meta, field

from shared.bindings import OwnAgent, OwnMission
from shared.body import Body
from shared.paging.cursors import Cursor
from shared.paging.pages import Page
from shared.text import Name, mission_problem

Status = Literal["active", "completed", "abandoned"]
Ending = Literal["completed", "abandoned"]
TokenBudget = Annotated[int, Meta(ge=500, le=10_000_000)]

_RESERVED = "is a word of this API"
# Paths below /api/sessions that no session may shadow.
_WORDS = frozenset({"reset"})


def session_problem(name: str) -> str | None:
    """Why a session cannot have this name, or None."""
    return _RESERVED if name in _WORDS else mission_problem(name)


class SessionConfig(Body, kw_only=True):
    """Limits of one session."""

    token_budget: TokenBudget = 100_000
    """The tokens that its context may take. Pressure is the share of it that is taken."""
    compaction_tokens: TokenBudget = 150_000
    """Above so many tokens of conversation, a compaction is due."""


class CreateSessionInput(Body, kw_only=True):
    """A session of an agent. It belongs to the agent, and to a mission and a user where it names them."""

    external_id: Name | None = None
    """The host's own name for it, unique in the tenant. Every path takes it in place of the id."""
    agent_name: OwnAgent | None = None
    """The agent whose session it is."""
    mission_id: OwnMission | None = None
    """The mission it works on. A purge of the mission erases it."""
    user_id: Name | None = None
    """The user it is with. A purge of the user erases it."""
    model: Name | None = None
    """The model that the agent runs on."""
    config: SessionConfig = field(default_factory=SessionConfig)

    def checks(self) -> Iterator[tuple[str, str]]:
        if self.external_id is not None and (problem := session_problem(self.external_id)):
            yield "external_id", problem
        if self.mission_id is not None and (problem := mission_problem(self.mission_id)):
            yield "mission_id", problem


class CompleteSessionInput(Body, kw_only=True):
    status: Ending = "completed"
    """`abandoned`: it ended without an end."""
    consolidate: bool = False
    """Learn from it soon afterwards, as `/api/memory/consolidate` does."""


class Session(msgspec.Struct, kw_only=True):
    """A session, and how much happened in it."""

    id: UUID
    external_id: str
    status: Status
    """Only an active one takes events, objects and turns."""
    agent_name: str | None
    mission_id: str | None
    user_id: str | None
    model: str
    goal: str | None
    """What the agent works towards now."""
    config: SessionConfig
    total_turns: int
    total_objects: int
    total_faults: int
    """Objects that were brought back whole."""
    total_micro_faults: int
    """Questions that were answered without bringing an object back."""
    last_seq: int
    """The number of the last event of its trail."""
    created_at: datetime
    last_active_at: datetime
    closed_at: datetime | None

    @classmethod
    def from_row(cls, row: asyncpg.Record) -> Session:
        columns = {name: row[name] for name in COLUMNS}
        return cls(**{**columns, "config": msgspec.convert(row["config"], SessionConfig)})


COLUMNS = Session.__struct_fields__


class SessionAnswer(msgspec.Struct):
    data: Session


class CreatedSession(msgspec.Struct):
    data: Session
    created: bool
    """False: the session of this `external_id` was there already, and is as it was."""


class Sessions(Page[Session]):
    """A page of sessions, newest first."""


class SessionCursor(Cursor, tag="sessions"):
    created_at: datetime
    id: UUID


class DeletedSession(msgspec.Struct):
    id: UUID
    """Nothing of it is left: no event, no object, no fault."""
