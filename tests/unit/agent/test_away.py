"""While Scrubjay is away the agent waits, wherever it is, and repeats no step that is done."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest
from telegram import Bot, Update

from scrubjay.errors import UnauthorizedError
from scrubjay_agent import refusals
from scrubjay_agent.channels.telegram import TelegramChannel
from scrubjay_agent.journal.entries import Address, Out, Received
from scrubjay_agent.journal.journal import Journal
from scrubjay_agent.outbox import Outbox
from scrubjay_agent.settings import Telegram
from tests.support.agent.scrubjay import AWAY, FakeScrubjay, refusal


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(refusals, "_PAUSE", 0.0)


@pytest.mark.parametrize("call", ["create", "conversation", "append"])
async def test_a_start_waits(call: str) -> None:
    jay = FakeScrubjay()
    jay.sessions.fails[call] = [AWAY, refusal(503), refusal(429)]
    journal = Journal(jay.client, "jay")
    await journal.open()
    assert journal.state.instance == journal.instance
    assert jay.sessions.calls.count(call) == 4


async def test_a_start_with_a_wrong_key_ends() -> None:
    jay = FakeScrubjay()
    jay.sessions.fails["create"] = [refusal(401)]
    with pytest.raises(UnauthorizedError):
        await Journal(jay.client, "jay").open()


class Chat:
    """A channel with placeholders."""

    def __init__(self) -> None:
        self.done: list[str] = []

    async def place(self, address: Address) -> str | None:
        self.done.append("placed")
        return "3"

    async def send(self, out: Out) -> None:
        self.done.append(f"{out.reference}: {out.text}")


async def test_the_outbox_waits_and_sends_once() -> None:
    jay, chat = FakeScrubjay(), Chat()
    journal = Journal(jay.client, "jay")
    await journal.open()
    await journal.append(Out("o", Address("telegram", "7"), "hello"))
    outbox = Outbox(journal, {"telegram": chat})
    jay.sessions.fails["append"] = [AWAY, refusal(503)]
    jay.sessions.lost["append"] = [AWAY, AWAY]
    outbox.wake()
    while outbox.busy:
        await asyncio.sleep(0)
    assert chat.done == ["placed", "3: hello"]
    assert not journal.state.outbox


class Updates:
    """Telegram's own bot, as far as the channel uses it. It ends when its updates are confirmed."""

    id = 7

    def __init__(self, count: int) -> None:
        self._updates = [_update(number) for number in range(1, count + 1)]
        self.sent: list[str] = []

    async def initialize(self) -> None:
        """It is known."""

    async def get_updates(self, offset: int | None, **_: Any) -> list[Update]:
        left = [one for one in self._updates if one.update_id >= (offset or 0)]
        if not left:
            raise _Confirmed
        return left

    async def send_chat_action(self, *_: Any) -> None:
        """Nobody looks."""

    async def send_message(self, _: str, text: str) -> None:
        self.sent.append(text)


class _Confirmed(Exception):
    pass


def _update(number: int) -> Update:
    sender = {"id": 4711, "is_bot": False, "first_name": "Tom"}
    message = {
        "message_id": number,
        "date": 0,
        "chat": {"id": 4711, "type": "private"},
        "from": sender,
        "text": f"m{number}",
    }
    return Update.de_json({"update_id": number, "message": message}, cast(Bot, None))


async def _received(monkeypatch: pytest.MonkeyPatch, *errors: Exception) -> tuple[list[str], list[str]]:
    """What was kept of two messages, and what was sent, where keeping them raises these errors first."""
    monkeypatch.setenv("BOT_TOKEN", "7:token")
    channel = TelegramChannel("jay", Telegram(token_env="BOT_TOKEN", users={"4711": "tom"}))
    updates, left, kept = Updates(2), list(errors), []
    monkeypatch.setattr(channel, "_bot", updates)

    async def accept(message: Received) -> None:
        if left:
            raise left.pop(0)
        kept.append(message.text)

    with pytest.raises(_Confirmed):
        await channel.run(accept)
    return kept, updates.sent


async def test_telegram_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    assert await _received(monkeypatch, AWAY, refusal(503)) == (["m1", "m2"], [])


async def test_a_message_that_is_refused_keeps_no_other_one_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    kept, sent = await _received(monkeypatch, refusal(422, "messages.0.content"))
    assert kept == ["m2"]
    assert len(sent) == 1
