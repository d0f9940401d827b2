from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from shared.bindings import LEFT_OUT, OwnAgent, OwnMission
from shared.body import Body
from shared.paging.cursors import Cursor
from shared.paging.pages import Page
from shared.text import BigId, Name, ShortText, mission_problem

Status = Literal["dispatched", "in_progress", "completed", "stale"]
Outcome = Literal["success", "partial", "failed"]
Percent = Annotated[int, Meta(ge=0, le=100)]


class ReportInput(Body, kw_only=True):
    """Work that was given to an agent. The server assigns the id."""

    mission_id: OwnMission = LEFT_OUT
    agent_name: OwnAgent = LEFT_OUT
    """The agent that does it."""
    task: ShortText
    """What to do."""
    parent_dispatch_id: BigId | None = None
    """The dispatch that it belongs to."""
    session_id: Name | None = None
    """The session that works on it."""

    def checks(self) -> Iterator[tuple[str, str]]:
        if problem := mission_problem(self.mission_id):
            yield "mission_id", problem


class ProgressInput(Body, kw_only=True):
    """Fields left out stay as they were."""

    note: ShortText | None = None
    """What was done."""
    percent: Percent | None = None
    """How much of it is done."""


class CompleteInput(Body, kw_only=True):
    outcome: Outcome
    summary: ShortText | None = None
    """The result."""


class Dispatch(msgspec.Struct):
    id: int
    mission_id: str
    agent_name: str
    task: str
    status: Status
    """`stale`: it gave no sign of life for too long, but may still complete."""
    outputs: int
    """How many output entries were written for it."""
    created_at: datetime
    last_heartbeat: datetime
    """The last sign of life."""
    parent_dispatch_id: int | None
    session_id: str | None
    progress: str | None
    """The last note."""
    percent: int | None
    """Null: not reported."""
    outcome: Outcome | None
    summary: str | None
    closed_at: datetime | None
    """When it completed or went stale."""


class DispatchAnswer(msgspec.Struct):
    data: Dispatch


class DispatchesAnswer(Page[Dispatch]):
    """A page of dispatches, newest first."""


class DispatchCursor(Cursor, tag="dispatches"):
    id: BigId


class Completed(msgspec.Struct):
    """`output_missing` means that no output entry was ever written for it."""

    id: int
    status: Status
    """How it stands now."""
    outcome: Outcome
    output_missing: bool


class CompletedAnswer(msgspec.Struct):
    data: Completed
