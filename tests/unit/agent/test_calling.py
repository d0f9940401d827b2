"""Calls of the model: none beyond a ceiling, and a row of costs for each that was announced."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any, Literal, cast

import pytest

from scrubjay.client import AsyncClient
from scrubjay.errors import Problem, TooManyError
from scrubjay.models import MessageInput, Prompt, TextBlock
from scrubjay_agent import settings
from scrubjay_agent.journal.entries import Address, Asked, Entry, Received, State, apply
from scrubjay_agent.journal.journal import Journal
from scrubjay_agent.providers.protocol import Reply, ToolSpec, Usage
from scrubjay_agent.tools.agents import Spawn, SubAgents
from scrubjay_agent.tools.registry import Calling, Registry, ToolError
from scrubjay_agent.turns.calling import Caller, CeilingError
from scrubjay_agent.turns.loop import Loop
from scrubjay_agent.turns.monitor import Monitor
from scrubjay_agent.turns.prompting import Prompting

CEILING = {"limit": "ceiling tenant day"}


class Kept:
    """A journal whose entries are kept at once."""

    def __init__(self) -> None:
        self.state = State()

    async def append(self, entry: Entry) -> None:
        apply(self.state, entry)


class Scrubjay:
    def __init__(self) -> None:
        self.limit: dict[str, str] | None = None
        self.outcomes: list[str] = []

    async def allowance(self, *, agent: str) -> None:
        if self.limit is not None:
            raise TooManyError(Problem("Too many requests", 429, "", extra=self.limit))

    @property
    def sessions(self) -> Scrubjay:
        return self

    async def session_create(self, **_: Any) -> None:
        """Is there."""

    async def session_conversation(self, _: str) -> SimpleNamespace:
        return SimpleNamespace(messages=[], summary=None, since=0, through=0)

    async def session_append(self, *_: Any, **__: Any) -> SimpleNamespace:
        return SimpleNamespace(last_seq=1)

    async def session_compact(self, *_: Any, **__: Any) -> SimpleNamespace:
        return SimpleNamespace(compacted=False)

    async def record_cost(self, *, outcome: str, **_: Any) -> None:
        self.outcomes.append(outcome)


class Model:
    format: Literal["anthropic", "openai"] = "anthropic"
    model = "m"

    async def complete(
        self, prompt: Prompt, messages: Sequence[MessageInput], tools: Sequence[ToolSpec]
    ) -> Reply:
        return Reply([TextBlock(text="done")], Usage(1, 1))

    async def close(self) -> None:
        """Holds nothing."""


class Silent(Model):
    async def complete(self, *_: Any) -> Reply:
        await asyncio.Event().wait()
        raise AssertionError


class Prompts:
    async def of(self, *_: Any) -> None:
        """Is not read."""


@pytest.fixture
def jay() -> Scrubjay:
    return Scrubjay()


@pytest.fixture
def journal() -> Kept:
    return Kept()


async def test_at_a_ceiling_no_call_is_made(jay: Scrubjay, journal: Kept) -> None:
    await _called(_caller(jay, journal), 0)
    jay.limit = CEILING
    caller = _caller(jay, journal)
    for number in (1, 2, 3):
        with pytest.raises(CeilingError):
            await _called(caller, number)
    assert journal.state.asked == {"k": {"0": 1}}
    assert jay.outcomes == ["ok"]
    jay.limit = None
    await _called(caller, 4)
    assert jay.outcomes == ["ok", "ok"]


async def test_a_call_that_a_restart_cut_off_is_counted_first(jay: Scrubjay, journal: Kept) -> None:
    await journal.append(Asked("k", 0, 1))
    jay.limit = CEILING
    with pytest.raises(CeilingError):
        await _called(_caller(jay, journal), 0)
    assert jay.outcomes == ["abandoned"]


async def test_a_limit_of_requests_is_no_ceiling(jay: Scrubjay, journal: Kept) -> None:
    jay.limit = {"limit": "requests per second"}
    with pytest.raises(TooManyError):
        await _called(_caller(jay, journal), 0)


async def test_a_subagents_time_limit_leaves_a_row(jay: Scrubjay, journal: Kept) -> None:
    loop = Loop(_caller(jay, journal, Silent()), 50, Monitor())
    limits = settings.SubAgents(timeout=0.01)
    given = settings.Settings(name="jay", model=settings.Model(model="m", api_key_env="K"), subagents=limits)
    subagents = SubAgents(cast("AsyncClient", jay), given, cast("Prompting", Prompts()), loop, Model.format)
    with pytest.raises(ToolError, match="took too long"):
        await subagents.spawn(Spawn(task="look"), _calling())
    assert jay.outcomes == ["abandoned"]


def _calling() -> Calling:
    message = Received(
        key="k",
        session="s",
        user="u",
        source="cli",
        address=Address("cli", "u"),
        text="t",
        at=datetime.now(UTC),
    )
    return Calling("k", "s", message, Registry([], 30_000), "1.0")


def _caller(jay: Scrubjay, journal: Kept, model: Model | None = None) -> Caller:
    return Caller(cast("AsyncClient", jay), cast("Journal", journal), model or Model(), "jay")


async def _called(caller: Caller, number: int) -> Reply:
    return await caller.call("k", number, "s", cast("Prompt", None), [], [])
