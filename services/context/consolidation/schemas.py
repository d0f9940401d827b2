"""Request and response bodies of consolidation."""

from __future__ import annotations

from typing import Literal

import msgspec

from shared.body import Body
from shared.text import Name


class ConsolidateInput(Body, kw_only=True):
    """Learn from what a session's trail holds beyond the last run."""

    session_id: Name
    """The session, by its id or its external id."""
    from_start: bool = False
    """Learn from all of the trail again. What is known is only confirmed."""


class Consolidated(msgspec.Struct, kw_only=True):
    """How far a run is, and what it changed so far."""

    status: Literal["finished", "nothing_new", "under_way", "unfinished"]
    """`unfinished`: there was no time for all of it, and the next call goes on. `under_way`: somebody else runs."""
    session_id: str
    """The session's id."""
    run_id: int | None
    """The run, whose report says more."""
    position: int
    """The last event that was learned from."""
    through: int
    """The last event that it is about."""
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
