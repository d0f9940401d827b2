from __future__ import annotations

import os
import subprocess
import sys
from typing import get_args

import pytest

from services.agent_memory.consolidation.learned import weakest
from shared.provenance import TRUSTED, SourceKind


def test_the_weakest_source_decides() -> None:
    assert weakest(["user", "tool", "agent"]) == "tool"
    assert weakest(["user"]) == "user"


@pytest.mark.parametrize("kind", get_args(SourceKind))
def test_what_is_trusted_is_never_weaker_than_what_is_not(kind: SourceKind) -> None:
    assert all((weakest([kind, trusted]) == kind) or kind in TRUSTED for trusted in TRUSTED)


_LEARN = """
from datetime import UTC, datetime
from services.agent_memory.consolidation.extraction.rules import learn
from services.agent_memory.consolidation.learned import Source, Turn
texts = ["I live in Lisbon.", "Bo works at Acme.", "I'll call them by 2031-01-02.", "A long day at work."] * 5
at = datetime(2026, 3, 1, tzinfo=UTC)
turns = [Turn(position=n, role="user", author="Ana", text=t, at=at, trust="user") for n, t in enumerate(texts)]
print(learn(turns, Source(user_id="Ana", session_id="s")))
"""


def test_the_same_turns_teach_the_same_in_every_process() -> None:
    """A run that was broken off goes on in another process, whose sets have another order."""
    every = {
        subprocess.run(
            [sys.executable, "-c", _LEARN],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("1", "2", "3")
    }
    assert len(every) == 1
