"""What a run over a folder has done so far."""

from __future__ import annotations

from datetime import datetime

import msgspec

MOST_NAMED = 1_000


class RefusedFile(msgspec.Struct):
    path: str
    reason: str
    """Why it is not indexed."""


class Progress(msgspec.Struct, omit_defaults=True):
    files: int = 0
    """How many files were looked at."""
    unchanged: int = 0
    """How many were indexed as they are."""
    changed: int = 0
    """How many were indexed, because they are new or differ."""
    removed: int = 0
    """How many left the index, because they are gone or no longer a file that can be indexed."""
    refused: list[RefusedFile] = []
    """The files that are not indexed, each with the reason: the first thousand."""
    refusals: int = 0
    """How many they are."""

    def refuse(self, path: str, reason: str) -> None:
        self.refusals += 1
        if len(self.refused) < MOST_NAMED:
            self.refused.append(RefusedFile(path if path.isprintable() else ascii(path)[1:-1], reason))


class LastRun(Progress, kw_only=True, omit_defaults=False):
    """The last run over the tenant's folder, or the present one."""

    started_at: datetime | None = None
    """Null: there was no run yet."""
    finished_at: datetime | None = None
    """Null: it is under way, or was broken off."""
