"""What stands for messages that several compactions took out, one after the other."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from services.cache.sessions.trail.compaction import extract
from services.cache.sessions.trail.messages import TextBlock
from services.cache.sessions.trail.schemas import TrailEvent
from shared.tokens import estimate_tokens

NOW = datetime(2026, 7, 4, 12, 0, tzinfo=UTC)
MOST = 4_000 + 20  # with the mark
_MARK = re.compile(r"^\[(\d+) messages are left out here\]$", re.M)


def said(*texts: str) -> list[TrailEvent]:
    return [
        TrailEvent(
            seq=1,
            kind="message",
            role="user",
            content=[TextBlock(text=text)],
            tokens=1,
            turn=0,
            created_at=NOW,
            written_by="key",
        )
        for text in texts
    ]


@pytest.mark.parametrize("length", [1, 30])
def test_each_message_has_its_line_or_is_counted_as_left_out(length: int) -> None:
    summary = None
    for compaction in range(6):
        texts = (f"message {compaction}-{number}" + " and more" * length for number in range(60))
        summary = extract(summary, said(*texts))
        assert estimate_tokens(summary) <= MOST
        marks = _MARK.findall(summary)
        assert len(marks) <= 1
        assert summary.count("user: message") + sum(map(int, marks)) == 60 * (compaction + 1)
        assert summary.startswith("user: message 0-0 ")
        assert f"message {compaction}-59" in summary.splitlines()[-1]


def test_a_hosts_own_summary_is_cut_with_a_mark() -> None:
    assert extract("One line. " * 900, said("go on")) == "One line. " * 900 + "\nuser: go on"
    long = extract("One line. " * 9_000, said("go on"))
    assert estimate_tokens(long) <= MOST
    assert long.endswith("One line. […]\nuser: go on")
