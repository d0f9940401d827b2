"""HTTP takes only so many messages of a user, and the answer of what it took stays at hand."""

from __future__ import annotations

import asyncio

import pytest

from scrubjay_agent import agent as agent_module
from scrubjay_agent.agent import FullError
from tests.support.agent.scrubjay import AWAY, FakeAgent, received


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_module, "_MOST_OPEN", 3)
    monkeypatch.setattr(agent_module, "_PAUSE", 60.0)


def _answers_no_more(fake: FakeAgent) -> None:
    fake.sessions.refuses["create"] = lambda _: AWAY


async def test_a_burst_of_one_user_is_bounded() -> None:
    fake = FakeAgent()
    agent = await fake.started()
    _answers_no_more(fake)
    burst = [agent.offer(received(f"k{number}")) for number in range(10)]
    given = await asyncio.gather(*burst, return_exceptions=True)
    assert [isinstance(one, FullError) for one in given] == [False] * 3 + [True] * 7
    assert len(fake.journal.state.inbox) == 3
    await agent.offer(received("k0"))
    await agent.offer(received("e", user="eve"))


async def test_a_repeat_gets_its_answer_however_many_wait() -> None:
    fake = FakeAgent()
    agent = await fake.started()
    assert await asyncio.wait_for(agent.answer_of(received()), 5) == "done"
    _answers_no_more(fake)
    for number in range(3):
        await agent.offer(received(f"k{number}"))
    assert await asyncio.wait_for(agent.answer_of(received()), 5) == "done"
    with pytest.raises(FullError):
        await agent.answer_of(received("k3"))


async def test_http_answers_429(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ADA_TOKEN", "ada-token")
    fake = FakeAgent()
    await fake.started()
    _answers_no_more(fake)
    async with fake.http() as http:
        notified = [await http.post("/notify", json={"message": f"m{number}"}) for number in range(4)]
        assert [one.status_code for one in notified] == [202, 202, 202, 429]
        assert (await http.post("/chat", json={"message": "m"})).status_code == 429
