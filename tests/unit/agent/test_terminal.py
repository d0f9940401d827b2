"""The terminal: a line is a message, an answer is a line, and no line ends the agent."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Sequence

import pytest

from scrubjay_agent.channels.cli import Cli, CliSender
from scrubjay_agent.journal.entries import Received

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


class Agent:
    def __init__(self) -> None:
        self.accepted: list[Received] = []

    async def accept(self, message: Received) -> None:
        self.accepted.append(message)

    async def known(self, key: str) -> str | None:
        return "known" if key == "cli:known" else None


@pytest.fixture
def agent() -> Agent:
    return Agent()


@pytest.mark.parametrize("bad", BAD)
async def test_a_line_that_is_no_message_is_left_out(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, agent: Agent, bad: bytes
) -> None:
    await _typed(monkeypatch, agent, [GOOD[0], bad, GOOD[1]])
    assert [(one.key, one.text) for one in agent.accepted] == [("cli:1", "one"), ("cli:2", "two")]
    assert "left out" in caplog.text


async def test_a_message_that_is_answered_is_not_accepted_again(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], agent: Agent
) -> None:
    await _typed(monkeypatch, agent, [b'{"id": "known", "text": "one"}'])
    assert not agent.accepted
    assert json.loads(capsys.readouterr().out) == {"id": "known", "text": "known"}


async def test_without_json_any_line_is_a_message(monkeypatch: pytest.MonkeyPatch, agent: Agent) -> None:
    await _typed(monkeypatch, agent, [b"hello", b"", b"caf\xe9"], structured=False)
    assert [one.text for one in agent.accepted] == ["hello", "caf\ufffd"]


async def _typed(
    monkeypatch: pytest.MonkeyPatch, agent: Agent, lines: Sequence[bytes], *, structured: bool = True
) -> None:
    typed = io.BytesIO(b"".join(line + b"\n" for line in lines))
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(typed, "utf-8"))
    await Cli("jay", "ada", structured, agent.accept, agent.known, CliSender(structured)).run()
