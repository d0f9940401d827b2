"""What Scrubjay will never take ends the turn with an answer; what it may take later is tried again."""

from __future__ import annotations

import asyncio
import base64
import hashlib

import pytest

from scrubjay.models import ImageBlock, TextBlock
from scrubjay_agent import agent as agent_module
from tests.support.agent.scrubjay import AWAY, FakeAgent, received, refusal

BROKEN = "Something went wrong on my side. Please ask again."
SESSION = "jay.ada"


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_module, "_PAUSE", 0.0)


async def _answer(fake: FakeAgent, text: str = "go") -> str:
    agent = await fake.started()
    return await asyncio.wait_for(agent.answer_of(received(text=text)), 5)


@pytest.mark.parametrize("status", [400, 409, 413])
@pytest.mark.parametrize("call", ["create", "append", "prompt"])
async def test_a_refused_request_ends_the_turn(call: str, status: int) -> None:
    fake = FakeAgent()
    fake.sessions.refuses[call] = lambda about: None if about == "jay.journal" else refusal(status)
    assert await _answer(fake) == BROKEN
    assert not fake.journal.state.inbox
    assert not fake.model.asked


async def test_so_does_a_secret_that_is_refused() -> None:
    fake = FakeAgent()
    fake.sessions.fails["prompt"] = [refusal(422, "query")]
    assert await _answer(fake) == BROKEN


async def test_a_caller_who_asks_again_gets_the_answer_that_no_trail_took() -> None:
    fake = FakeAgent()
    fake.sessions.refuses["append"] = lambda about: refusal(409) if about == SESSION else None
    assert await _answer(fake) == BROKEN
    assert await fake.agent.answer_of(received()) == BROKEN


@pytest.mark.parametrize("error", [AWAY, refusal(422), refusal(429), refusal(503)])
async def test_what_may_be_taken_later_is_tried_again(error: Exception) -> None:
    fake = FakeAgent()
    fake.sessions.fails["prompt"] = [error, error]
    assert await _answer(fake) == "done"


async def test_who_waits_for_scrubjay_keeps_nobody_from_being_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(agent_module, "_PAUSE", 60.0)
    fake = FakeAgent()
    fake.settings.parallel = 1
    fake.sessions.refuses["create"] = lambda about: AWAY if about == "jay.eve" else None
    agent = await fake.started()
    await agent.accept(received("e", user="eve"))
    assert await asyncio.wait_for(agent.answer_of(received()), 5) == "done"


async def test_the_trail_gets_an_images_hash_and_the_model_its_bytes() -> None:
    data = b"\xff\xd8 a photo"
    image = ImageBlock(media_type="image/jpeg", data=base64.b64encode(data).decode())
    fake = FakeAgent(images=[image])
    await _answer(fake)
    kept = fake.sessions.events[SESSION][0].content[0]
    assert kept == ImageBlock(
        media_type="image/jpeg", sha256=hashlib.sha256(data).hexdigest(), bytes=len(data)
    )
    assert fake.model.asked[0][-1].content == [image, TextBlock(text="go")]
