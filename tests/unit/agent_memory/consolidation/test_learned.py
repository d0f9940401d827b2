from __future__ import annotations

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
