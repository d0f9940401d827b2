"""A tool that runs again, since its result was not kept, makes nothing a second time."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from scrubjay.models import ToolUse
from scrubjay_agent import agent as agent_module
from scrubjay_agent.journal.entries import (
    Address,
    Answered,
    Cancelled,
    Entry,
    Out,
    Received,
    Sent,
    State,
    Timer,
    apply,
)
from scrubjay_agent.journal.journal import Journal, SupersededError
from scrubjay_agent.providers.protocol import Reply
from scrubjay_agent.tools import messaging, schedule
from scrubjay_agent.tools.registry import Arguments, Calling, Registry, Tool
from tests.support.agent.scrubjay import AWAY, FakeAgent, received, refusal

CALLS = [("message", {"text": "hello"}), ("schedule_message", {"text": "look again", "minutes": 1})]


class Kept:
    """A journal whose entries are kept at once."""

    def __init__(self) -> None:
        self.state = State()

    async def append(self, entry: Entry) -> None:
        apply(self.state, entry)


@pytest.fixture
def journal() -> Kept:
    return Kept()


@pytest.mark.parametrize("call", CALLS)
async def test_what_a_tool_made_is_not_made_again(journal: Kept, call: tuple[str, Any]) -> None:
    await _run(journal, [call], step=1)
    assert len(_there(journal)) == 1
    await _run(journal, [call], step=1)
    assert len(_there(journal)) == 1


@pytest.mark.parametrize("call", CALLS)
async def test_nor_is_it_when_it_is_done_already(journal: Kept, call: tuple[str, Any]) -> None:
    await _run(journal, [call], step=1)
    await _done(journal)
    await _run(journal, [call], step=1)
    assert not _there(journal)


async def test_calls_of_one_id_are_told_apart(journal: Kept) -> None:
    await _run(journal, CALLS * 2, step=1)
    await _run(journal, CALLS, step=2)
    assert len(_there(journal)) == 6


async def test_an_answered_turn_leaves_nothing_behind(journal: Kept) -> None:
    await _run(journal, CALLS, step=1)
    await _run(journal, CALLS, step=1, turn="k/1.0")
    await _run(journal, CALLS, step=1, turn="k2")
    assert list(journal.state.made) == ["k", "k/1.0", "k2"]
    await journal.append(Answered("k", "s", 3, []))
    assert list(journal.state.made) == ["k2"]
    assert len(_there(journal)) == 6, "what was made stays until it is sent or told"


async def test_a_schedule_by_cron_moves_on(journal: Kept) -> None:
    await _run(journal, [("schedule_message", {"text": "look again", "cron": "0 8 * * *"})], step=1)
    (timer,) = journal.state.timers.values()
    later = Timer(timer.id, datetime(2031, 5, 4, 8, tzinfo=UTC), timer.message, timer.cron)
    await journal.append(later)
    assert journal.state.timers == {timer.id: later}


class Failing:
    """A tool that raises these, one at each call, and then works."""

    def __init__(self, *errors: Exception) -> None:
        self._errors = list(errors)

    async def run(self, _: Any, __: Calling) -> str:
        if self._errors:
            raise self._errors.pop(0)
        return "worked"

    @property
    def tool(self) -> Tool:
        return Tool("failing", "", Arguments, self.run)


async def test_a_tool_that_got_no_answer_runs_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_module, "_PAUSE", 0.0)
    failing = Failing(AWAY, refusal(503)).tool
    fake = FakeAgent(Reply([ToolUse(id="c", name="failing", input={})], None), tools=[failing])
    agent = await fake.started()
    assert await asyncio.wait_for(agent.answer_of(received()), 5) == "done"
    result: Any = fake.model.asked[-1][-1].content
    assert [(one.content, one.is_error) for one in result] == [("worked", False)]


async def test_a_tool_that_finds_another_agent_ends_this_one() -> None:
    fake = FakeAgent(
        Reply([ToolUse(id="c", name="failing", input={})], None), tools=[Failing(SupersededError("jay")).tool]
    )
    agent = await fake.started()
    await agent.accept(received())
    with pytest.raises(SupersededError):
        await asyncio.wait_for(agent.run(), 5)


def _there(journal: Kept) -> list[Out | Timer]:
    return [*journal.state.outbox.values(), *journal.state.timers.values()]


async def _done(journal: Kept) -> None:
    for one in _there(journal):
        await journal.append(Sent(one.key) if isinstance(one, Out) else Cancelled(one.id))


async def _run(journal: Kept, calls: list[tuple[str, Any]], *, step: int, turn: str = "k") -> None:
    """As a restart does it; all calls have one id, as some models give it."""
    kept = cast(Journal, journal)
    reached = messaging.Messaging(kept, lambda: None, lambda user: None, _react)
    registry = Registry([*messaging.tools(reached), *schedule.tools(schedule.Scheduling(kept))], 30_000)
    message = Received(
        key="k",
        session="s",
        user="ada",
        source="telegram",
        address=Address("telegram", "7"),
        text="go",
        at=datetime(2031, 5, 3, tzinfo=UTC),
    )
    uses = [ToolUse(id="call_0", name=name, input=given) for name, given in calls]
    results = await registry.answers(uses, Calling(turn, "s", message, registry), step, again=True)
    assert not [one.content for one in results if one.is_error]


async def _react(address: Address, message: str, emoji: str) -> None:
    """Nobody is there."""
