"""The hunks of a diff, and the parts of a log between blank lines. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from services.cache.sessions.paging.segmentation.listing import Point
from services.cache.sessions.paging.segmentation.units import Unit

_HUNK = re.compile(r"@@ -\d+(?:,\d+)? \+\d+(?:,\d+)? @@")
# A new command, test or part of a report.
_RULE = re.compile(r"\$ \S|={4,}|-{4,}|#{1,6} \S|Traceback \(most recent")


def of_diff(lines: Sequence[str]) -> list[Unit]:
    found: list[Unit] = []
    file: int | None = None
    for row, line in enumerate(lines):
        if line.startswith("diff --git ") or (line.startswith("--- ") and not _in_header(lines, row)):
            file = len(found)
            found.append(Unit(Point(row, 0), "file", line.split()[-1][:200]))
        elif hunk := _HUNK.match(line):
            found.append(Unit(Point(row, 0), "hunk", line[hunk.end() :].strip()[:200], file))
    return found


def of_log(lines: Sequence[str]) -> list[Unit]:
    starts = [
        row
        for row, line in enumerate(lines)
        if _RULE.match(line) or (row and line.strip() and not lines[row - 1].strip())
    ]
    return [Unit(Point(row, 0), "lines", lines[row].strip()[:80]) for row in starts]


def _in_header(lines: Sequence[str], row: int) -> bool:
    """Whether a `diff --git` line opened this file a few lines before."""
    return any(line.startswith("diff --git ") for line in lines[max(0, row - 6) : row])
