"""Request and response bodies of consolidation. The context service sends what `/internal` takes."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Annotated, Any, Literal

import asyncpg
import msgspec
from msgspec import Meta, field

from services.agent_memory.consolidation.changes import Action, Kind, Tally
from services.agent_memory.consolidation.learned import Source, Turn
from services.agent_memory.facts.schemas import NOT_A_SCOPE, is_scope
from shared.body import Body
from shared.paging.cursors import Cursor
from shared.paging.pages import Page
from shared.provenance import SourceKind
from shared.text import BigId, Name

Position = Annotated[int, Meta(ge=0, le=2**63 - 1)]
RunStatus = Literal["running", "finished", "undone"]


class BeginInput(Body, kw_only=True):
    source: Source
    """A session, with its id."""
    last: Position
    """The number of its last event."""
    holder: Name
    """Who runs. Nobody else runs over the session until it is done, or silent for half a minute."""
    from_start: bool = False


class Begun(msgspec.Struct):
    status: Literal["begun", "nothing_new", "under_way"]
    position: int
    """The last event that was learned from."""
    through: int
    run_id: int | None = None
    stops: list[int] = []
    """Where earlier runs ended. A step that ends there again teaches the same again."""


class StepInput(Body, kw_only=True):
    """Turns that follow each other. `after` says what the caller takes as the last event learned from."""

    source: Source
    run_id: BigId
    holder: Name
    after: Position
    until: Position
    """The last event that this step is about, whether or not it is among the turns."""
    turns: Annotated[list[Turn], Meta(max_length=2_000)]
    skipped: dict[str, int] = field(default_factory=dict)
    """How many turns or parts of turns are left out, by reason."""
    payer: Name | None = None
    """The key that pays for a helper model's calls, in a run that nobody asked for."""


class Stepped(msgspec.Struct):
    status: Literal["on", "finished", "lost"]
    """`lost`: somebody else went on with the run."""
    position: int
    tally: Tally
    skipped: dict[str, int]


class ReleaseInput(Body, kw_only=True):
    session_id: Name
    holder: Name


class FileInput(Body, kw_only=True):
    path: Annotated[str, Meta(min_length=1, max_length=1_000)]
    scope: Annotated[str, Meta(min_length=1, max_length=250)] | None = None
    from_start: bool = False

    def checks(self) -> Iterator[tuple[str, str]]:
        if self.scope is not None and not is_scope(self.scope):
            yield "scope", NOT_A_SCOPE


class LearnedFile(msgspec.Struct):
    status: Literal["finished", "nothing_new"]
    run_id: int
    lines: int
    tally: Tally


class ConsolidationRun(msgspec.Struct, kw_only=True):
    """What a run over a session or a file did."""

    id: int
    scope: str
    """Where all that it learned lies."""
    session_id: str | None
    path: str | None
    """The file, if it was over a file."""
    agent_name: str | None
    """The agent of the session."""
    mission_id: str | None
    """The mission of the session."""
    user_id: str | None
    """The user of the session."""
    after: int
    """It is about the session's events behind this one, up to `through`."""
    through: int
    """The last event, or the last line of the file, that it is about."""
    position: int
    """How far it is."""
    status: RunStatus
    """A run that was broken off stays `running` until the next call goes on with it."""
    tally: Tally
    """How many rows it changed."""
    skipped: dict[str, int]
    """How many turns or parts of turns it did not learn from, by reason."""
    written_by: str
    """The key that began it."""
    started_at: datetime
    """When it began."""
    finished_at: datetime | None
    """Null: it is under way, or was broken off."""
    undone_at: datetime | None
    """When it was undone, if it was."""
    undone_by: str | None
    """The key that undid it."""

    @classmethod
    def from_row(cls, row: asyncpg.Record) -> ConsolidationRun:
        columns: dict[str, Any] = {name: row[name] for name in _RUN if name not in ("status", "tally")}
        return cls(**columns, status=_status(row), tally=msgspec.convert(row["tally"], Tally))


_RUN = ConsolidationRun.__struct_fields__


def _status(row: asyncpg.Record) -> RunStatus:
    if row["undone_at"] is not None:
        return "undone"
    return "running" if row["finished_at"] is None else "finished"


class ConsolidationRuns(Page[ConsolidationRun]):
    """A page of runs, newest first."""


class RunCursor(Cursor, tag="consolidation_runs"):
    id: BigId


class ConsolidationChange(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A row that a run opened, closed, confirmed or found disputed."""

    number: int
    """Its place in the run."""
    kind: Kind
    """What it is about."""
    action: Action
    """`replaced`: a fact of the same value that holds for longer took its place. `skipped`: it was not written."""
    item_id: int | None = None
    """The id of the fact, the episode or the commitment."""
    turns: list[int] = []
    """The events of the session that it comes from; of a file, the lines on which the passages begin."""
    trust: SourceKind | None = None
    """Whom it comes from. Of several, who is trusted least."""
    why: str | None = None
    """Why it was closed, or not written."""


class ConsolidationChanges(Page[ConsolidationChange]):
    """A page of changes, in their order."""


class ChangeCursor(Cursor, tag="consolidation_changes"):
    number: Position


class UndoneRun(msgspec.Struct):
    """What became of the rows of a run that was undone."""

    run: ConsolidationRun
    """The run, now undone."""
    withdrawn: int
    """Facts, episodes, commitments and other names that the run had opened, and that are no longer there."""
    reopened: int
    """Facts that are as they were before the run."""
    kept: int
    """Rows that are left as they are, because somebody changed them after the run."""
