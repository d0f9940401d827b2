"""Calls of the model: none beyond a ceiling, and a row of costs for each that was announced."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, cast

import pytest

from scrubjay.client import AsyncClient
from scrubjay.errors import Problem, TooManyError
from scrubjay.models import MessageInput, Prompt, TextBlock
from scrubjay_agent.journal.entries import Asked, Entry, State, apply
from scrubjay_agent.journal.journal import Journal
from scrubjay_agent.providers.protocol import Reply, ToolSpec, Usage
from scrubjay_agent.turns.calling import Caller, CeilingError

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


def _caller(jay: Scrubjay, journal: Kept) -> Caller:
    return Caller(cast("AsyncClient", jay), cast("Journal", journal), Model(), "jay")


async def _called(caller: Caller, number: int) -> Reply:
    return await caller.call("k", number, "s", cast("Prompt", None), [], [])
