"""The terminal: a line is a message, an answer is a line, and no line ends the agent."""

from __future__ import annotations

import asyncio
import io
import json
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal, cast

import pytest

from scrubjay.client import AsyncClient
from scrubjay.errors import NotReachedError, Problem, ScrubjayError, error_of
from scrubjay.models import ImageBlock
from scrubjay_agent.agent import Agent
from scrubjay_agent.channels import cli
from scrubjay_agent.channels.cli import Cli, CliSender
from scrubjay_agent.journal.entries import Address, Received
from scrubjay_agent.journal.journal import Journal
from scrubjay_agent.outbox import Outbox
from scrubjay_agent.settings import Model, Settings
from scrubjay_agent.tools.registry import Registry
from scrubjay_agent.turns.loop import Loop
from scrubjay_agent.turns.monitor import Monitor
from scrubjay_agent.turns.prompting import Prompting
from tests.unit.agent.test_calling import Kept, Prompts, Scrubjay

GOOD = [b'{"id": "1", "text": "one"}', b'{"id": "2", "text": "two"}']
BAD = [
    b"hello",
    b"{",
    b"null",
    b'{"id": 3, "text": "three"}',
    b'{"id": "3"}',
    b'{"id": "3", "text": "\\ud800"}',
    b'{"id": "3", "more": ' + b"[" * 100_000,
    b"\xff\xfe",
]


class Taking:
    """`errors` are what its methods raise next, by their name."""

    def __init__(self) -> None:
        self.accepted: list[Received] = []
        self.errors: dict[str, list[Exception]] = {"accept": [], "known": []}

    async def accept(self, message: Received) -> None:
        self._fail("accept")
        self.accepted.append(message)

    async def known(self, key: str) -> str | None:
        self._fail("known")
        return "known" if key == "cli:known" else None

    def _fail(self, name: str) -> None:
        if self.errors[name]:
            raise self.errors[name].pop(0)


@pytest.fixture
def agent() -> Taking:
    return Taking()


@pytest.mark.parametrize("bad", BAD)
async def test_a_line_that_is_no_message_is_left_out(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, agent: Taking, bad: bytes
) -> None:
    await _typed(monkeypatch, agent, [GOOD[0], bad, GOOD[1]])
    assert [(one.key, one.text) for one in agent.accepted] == [("cli:1", "one"), ("cli:2", "two")]
    assert "left out" in caplog.text


async def test_a_message_that_is_answered_is_not_accepted_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], agent: Taking
) -> None:
    await _typed(monkeypatch, agent, [b'{"id": "known", "text": "one"}'])
    assert not agent.accepted
    assert json.loads(capsys.readouterr().out) == {"id": "known", "text": "known"}


@pytest.mark.parametrize("call", ["accept", "known"])
async def test_without_scrubjay_a_line_waits(
    monkeypatch: pytest.MonkeyPatch, agent: Taking, call: str
) -> None:
    monkeypatch.setattr(cli, "_PAUSE", 0.0)
    agent.errors[call] = [NotReachedError("no answer"), _refusal(503), _refusal(401)]
    await _typed(monkeypatch, agent, GOOD)
    assert [one.text for one in agent.accepted] == ["one", "two"]


@pytest.mark.parametrize("status", [400, 404, 413, 422])
async def test_a_line_that_scrubjay_refuses_is_left_out(
    monkeypatch: pytest.MonkeyPatch, agent: Taking, status: int
) -> None:
    agent.errors["accept"] = [_refusal(status)]
    await _typed(monkeypatch, agent, GOOD)
    assert [one.text for one in agent.accepted] == ["two"]


async def test_without_json_any_line_is_a_message(monkeypatch: pytest.MonkeyPatch, agent: Taking) -> None:
    await _typed(monkeypatch, agent, [b"hello", b"", b"caf\xe9"], structured=False)
    assert [one.text for one in agent.accepted] == ["hello", "caf\ufffd"]


@pytest.mark.parametrize(("channel", "parts"), [("cli", [9_000]), ("telegram", [4_000, 4_000, 1_000])])
async def test_only_telegram_gets_a_long_answer_in_parts(
    channel: Literal["cli", "telegram"], parts: list[int]
) -> None:
    journal = Kept()
    answering = _answering(journal, "x" * 9_000)
    await answering.accept(
        Received(
            key="k",
            session="s",
            user="ada",
            source="cli",
            address=Address(channel, "7"),
            text="go",
            at=datetime.now(UTC),
        )
    )
    while journal.state.inbox:
        await asyncio.sleep(0)
    assert [len(out.text) for out in journal.state.outbox.values()] == parts


class Saying:
    """A model's loop that ends at once."""

    def __init__(self, text: str) -> None:
        self._text = text

    async def run(self, *_: Any) -> str:
        return self._text


def _answering(kept: Kept, text: str) -> Agent:
    """Nothing is sent: its answers stay in the outbox."""
    journal = cast("Journal", kept)
    return Agent(
        cast("AsyncClient", Scrubjay()),
        journal,
        Settings(name="jay", model=Model(model="m", api_key_env="K")),
        cast("Loop", Saying(text)),
        cast("Prompting", Prompts()),
        Registry([], 30_000),
        Outbox(journal, {}),
        Monitor(),
        _no_images,
        "anthropic",
    )


async def _no_images(_: Received) -> list[ImageBlock]:
    return []


def _refusal(status: int) -> ScrubjayError:
    return error_of(Problem("Refused", status, ""), None, None)


async def _typed(
    monkeypatch: pytest.MonkeyPatch, agent: Taking, lines: Sequence[bytes], *, structured: bool = True
) -> None:
    typed = io.BytesIO(b"".join(line + b"\n" for line in lines))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(typed, "utf-8"))
    await Cli("jay", "ada", structured, agent.accept, agent.known, CliSender(structured)).run()
