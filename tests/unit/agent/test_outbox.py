"""What is in the outbox is sent at once, whoever put it there and however the turn goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest

from scrubjay.models import MessageInput, Prompt, ToolUse
from scrubjay_agent import agent as agent_module
from scrubjay_agent.journal.entries import Address, Answered, Entry, Out
from scrubjay_agent.providers.protocol import Reply, ToolSpec
from scrubjay_agent.tools import messaging
from tests.support.agent.scrubjay import AWAY, FakeAgent, received


class Chat:
    """A channel that shows what it is sent."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.shown = asyncio.Event()

    async def place(self, address: Address) -> str | None:
        return None

    async def send(self, out: Out) -> None:
        self.texts.append(out.text)
        self.shown.set()


async def test_what_a_tool_sends_is_sent_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    call = ToolUse(id="c", name="message", input={"text": "wait a moment"})
    chat = Chat()
    fake = FakeAgent(Reply([call], None), senders={"telegram": chat})
    sending = messaging.Messaging(fake.journal, fake.outbox.wake, lambda _: None, _react)
    fake.tools = messaging.tools(sending)
    agent = await fake.started()
    completed = fake.model.complete

    async def slow(prompt: Prompt, messages: Sequence[MessageInput], tools: Sequence[ToolSpec]) -> Reply:
        if len(messages) > 1:
            await chat.shown.wait()
        return await completed(prompt, messages, tools)

    monkeypatch.setattr(fake.model, "complete", slow)
    answer = agent.answer_of(received(channel="telegram"))
    assert await asyncio.wait_for(answer, 5) == "done"
    await _sent(fake)
    assert chat.texts == ["wait a moment", "done"]


async def test_an_answer_that_is_kept_is_sent_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_module, "_PAUSE", 0.0)
    chat = Chat()
    fake = FakeAgent(senders={"telegram": chat})
    agent = await fake.started()
    keep = fake.journal.append

    async def keep_and_fail(entry: Entry) -> None:
        """As where another entry finds this one, whose own reply was lost."""
        await keep(entry)
        if isinstance(entry, Answered):
            raise AWAY

    monkeypatch.setattr(fake.journal, "append", keep_and_fail)
    assert await asyncio.wait_for(agent.answer_of(received(channel="telegram")), 5) == "done"
    await _sent(fake)
    assert chat.texts == ["done"]


async def _sent(fake: FakeAgent) -> None:
    while fake.outbox.busy:
        await asyncio.sleep(0)


async def _react(address: Address, message: str, emoji: str) -> None:
    """Nobody is there."""
