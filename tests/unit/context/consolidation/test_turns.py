"""How events become the steps of a run."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from services.agent_memory.consolidation.schemas import StepInput
from services.context.consolidation.turns import STEP, Event, Names, step_of

AT = datetime(2026, 3, 1, tzinfo=UTC)
NAMES = Names("Ana", "scout", speaks_for_users=True, bound=frozenset(["key:7"]))
MOST_TURNS = 2_000


def event(seq: int, *blocks: dict[str, Any], role: str = "user", key: str = "key:5") -> Event:
    return Event(seq, "message", role, list(blocks), AT, written_by=key)


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def test_a_step_holds_no_more_turns_than_its_owner_takes() -> None:
    result = {"type": "tool_result", "tool_use_id": "1", "content": "Done."}
    alternating = [block for _ in range(100) for block in (text("Go on."), result)]
    events = [event(seq, *alternating) for seq in range(1, STEP + 1)]
    assert str(MOST_TURNS) in str(StepInput.__annotations__["turns"])
    position, steps = 0, 0
    while position < STEP:
        step = step_of([each for each in events if each.seq > position], position, STEP, NAMES)
        assert len(step.turns) <= MOST_TURNS
        assert step.until > position
        position, steps = step.until, steps + 1
    assert steps < STEP


@pytest.mark.parametrize(("through", "until"), [(10, 10), (1_000, STEP)])
def test_a_step_goes_on_behind_a_gap(through: int, until: int) -> None:
    """Otherwise the run would stand still, and its owner take it for lost."""
    assert step_of([event(5_000, text("Hello."))], 0, through, NAMES).until == until


def test_a_step_ends_where_it_is_to_end() -> None:
    events = [event(seq, text("Hello.")) for seq in range(1, 9)]
    assert step_of(events, 0, 6, NAMES).until == 6


def test_a_key_of_an_agent_does_not_say_what_users_said() -> None:
    events = [event(1, text("I live in Faro."), key="key:7"), event(2, text("I live in Lisbon."))]
    turns = step_of(events, 0, 2, NAMES).turns
    assert [(turn["role"], turn["trust"]) for turn in turns] == [("user", "agent"), ("user", "user")]
