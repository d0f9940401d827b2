"""Request and response bodies of consolidation."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from shared.body import Body
from shared.text import Name


class ConsolidateInput(Body, kw_only=True):
    """Learn from what a session's trail holds beyond the last run, or from a file of the vault that has changed."""

    session_id: Name | None = None
    """The session, by its id or its external id."""
    path: Annotated[str, Meta(min_length=1, max_length=1_000)] | None = None
    """The file, in place of a session."""
    scope: Annotated[str, Meta(min_length=1, max_length=250)] | None = None
    """Where what the file teaches lies: by default with whose folder it is in. It lies elsewhere only if the folder is
    no agent's, mission's or user's."""
    from_start: bool = False
    """Learn from all of it again. What is known is only confirmed."""

    def checks(self) -> Iterator[tuple[str, str]]:
        if (self.session_id is None) == (self.path is None):
            yield "session_id", "give either a session_id or a path"
        if self.scope is not None and self.path is None:
            yield (
                "scope",
                "belongs to a path: what a session teaches lies with its user, its mission or its agent",
            )


class Consolidated(msgspec.Struct, kw_only=True):
    """How far a run is, and what it changed so far."""

    status: Literal["finished", "nothing_new", "under_way", "unfinished"]
    """`unfinished`: more is left, and the next call goes on. `under_way`: somebody else runs."""
    session_id: str | None
    """The session's id; null for a file."""
    run_id: int | None
    """The run, whose report says more."""
    position: int
    """The last event, or line of the file, that was learned from."""
    through: int
    """The last event, or line of the file, that it is about."""
    opened: int = 0
    """Facts, episodes, commitments and other names that are new."""
    closed: int = 0
    """Facts that no longer hold because of it."""
    confirmed: int = 0
    """Facts, episodes and commitments that were known."""
    disputed: int = 0
    """Facts of other sources that it contradicts. They stay, and it stands beside them."""
    skipped: dict[str, int] = {}
    """How many turns or parts of turns it did not learn from, by reason."""
