"""What is known of a memory once the same fact is stated again. Pure.

People and agents are trusted; tools, documents and what was derived from them are not. A repeat by somebody less
trusted changes nothing but `private`; one by somebody more trusted replaces all; among equals the first wording
stays, the tier and the outcome are the latest, and what the first left out is filled in.
"""

from __future__ import annotations

from datetime import datetime

import msgspec

_TRUSTED = frozenset(["user", "agent"])


class Statement(msgspec.Struct, frozen=True, kw_only=True):
    """What somebody said: the columns of a memory that a repeat may change. A repeat is of the same user."""

    content: str
    memory_type: str
    task_description: str | None = None
    skills_used: list[str] = []
    outcome: str | None = None
    mission_namespace: str | None = None
    private: bool = False
    occurred_at: datetime | None = None
    session_id: str | None = None
    seq: int | None = None
    speaker: str | None = None
    user_id: str | None = None
    written_by: str
    source_kind: str = "agent"
    recalled_from: int | None = None
    dispatch_id: int | None = None

    @property
    def trusted(self) -> bool:
        return self.source_kind in _TRUSTED


def merge(known: Statement, repeat: Statement) -> Statement:
    """`private` wins either way: nothing that was hidden comes out by being said again."""
    private = known.private or repeat.private
    if known.trusted != repeat.trusted:
        return msgspec.structs.replace(known if known.trusted else repeat, private=private)
    return msgspec.structs.replace(
        known,
        memory_type=repeat.memory_type,
        outcome=repeat.outcome or known.outcome,
        task_description=known.task_description or repeat.task_description,
        skills_used=known.skills_used or repeat.skills_used,
        mission_namespace=known.mission_namespace or repeat.mission_namespace,
        dispatch_id=known.dispatch_id or repeat.dispatch_id,
        private=private,
    )
