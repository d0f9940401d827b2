"""Who pays for what a helper model takes to learn from a step."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from services.agent_memory.consolidation.learned import Learned, Source, Turn
from services.agent_memory.consolidation.runs import Runs
from services.agent_memory.consolidation.schemas import StepInput
from shared.auth import Principal
from shared.deadline import Deadline
from shared.spending import Payer, charged_to, payer_of

CALLER = Payer("t", "key:1", "scout")
SAID = Turn(position=1, role="user", author="Ana", text="I live in Faro.", at=datetime.now(UTC), trust="user")


@pytest.mark.parametrize(
    ("named", "expected"), [(None, CALLER), ("key:2", Payer("t", "key:2", "mallory", "moria"))]
)
async def test_a_step_is_paid_for_by_the_caller_or_whom_it_names(named: str | None, expected: Payer) -> None:
    paying: list[Payer] = []

    async def learn(tenant: str, *_: Any) -> Learned:
        paying.append(payer_of(tenant))
        return Learned()

    nothing: Any = None
    source = Source(agent_name="mallory", mission_id="moria", user_id="ana", session_id="s")
    step = StepInput(source=source, run_id=1, holder="h", after=0, until=1, turns=[SAID], payer=named)
    principal = Principal("t", "key:1", frozenset(["write"]))
    with charged_to(CALLER):
        await Runs(nothing, nothing, "model", learn).learned(principal, step, Deadline(1.0))
        assert payer_of("t") == CALLER
    assert paying == [expected]
