from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from services.cache.schemas import Outcome
from shared.body import Body
from shared.text import BigId, Name, ShortText, mission_problem

Status = Literal["dispatched", "in_progress", "completed", "stale"]
Percent = Annotated[int, Meta(ge=0, le=100)]


class ReportInput(Body, kw_only=True):
    """Work that was given to an agent; the server makes the id."""

    mission_id: Name
    agent_name: Name
    task: ShortText
    parent_dispatch_id: BigId | None = None
    session_id: Name | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if problem := mission_problem(self.mission_id):
            raise ValueError(f"mission_id: {problem}")


class ProgressInput(Body, kw_only=True):
    """What is left out stays as it was."""

    note: ShortText | None = None
    percent: Percent | None = None


class CompleteInput(Body, kw_only=True):
    outcome: Outcome
    summary: ShortText | None = None


class Dispatch(msgspec.Struct):
    id: int
    mission_id: str
    agent_name: str
    task: str
    status: Status
    outputs: int
    created_at: datetime
    last_heartbeat: datetime
    parent_dispatch_id: int | None
    session_id: str | None
    progress: str | None
    percent: int | None
    outcome: Outcome | None
    summary: str | None
    closed_at: datetime | None


class DispatchAnswer(msgspec.Struct):
    data: Dispatch


class DispatchesAnswer(msgspec.Struct):
    """Newest first; `next_before` continues the list."""

    data: list[Dispatch]
    next_before: int | None = None


class Completed(msgspec.Struct):
    """`output_missing`: no output entry was ever written for it."""

    id: int
    status: Status
    outcome: Outcome
    output_missing: bool


class CompletedAnswer(msgspec.Struct):
    data: Completed
