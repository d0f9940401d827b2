"""What turns teach with the helper model through its real clients, and without it where it fails."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import UTC, datetime

import pytest

from services.agent_memory.consolidation.extraction import rules
from services.agent_memory.consolidation.learned import Learned, Source, Turn
from services.agent_memory.consolidation.learning import Learning
from shared.llm import Helper, open_helper
from shared.spending import Tokens
from tests.integration.shared.test_helper import Kept, settings
from tests.support.fakes.fake_helper import FakeHelper

NOW = datetime(2026, 3, 4, 10, tzinfo=UTC)
# The rules find no fact in the first, and one in the second.
SAID = ("As everybody in town knows, Rui lives in Porto.", "Eva works at Acme.")


def turns(*texts: str) -> list[Turn]:
    return [
        Turn(position=place, role="user", author="Ana", text=text, at=NOW, trust="user")
        for place, text in enumerate(texts)
    ]


def stated(learned: Learned) -> list[tuple[str, str, str]]:
    return [(fact.subject, fact.predicate, fact.object) for fact in learned.facts]


@pytest.fixture
def api() -> Iterator[FakeHelper]:
    with FakeHelper() as api:
        yield api


@pytest.fixture
def spent() -> Kept:
    return Kept()


@pytest.fixture(params=["anthropic", "openai"])
async def helper(request: pytest.FixtureRequest, api: FakeHelper, spent: Kept) -> AsyncIterator[Helper]:
    helper = open_helper(settings(api, request.param, timeout=1.0), spent)
    assert helper is not None
    yield helper
    await helper.close()


async def test_the_model_teaches_what_the_rules_miss(helper: Helper, spent: Kept) -> None:
    learned = await Learning(helper).learn("t", turns(*SAID), Source(), 5.0)
    assert stated(learned) == [("Rui", "lives in", "Porto")]
    assert learned.facts[0].turns == (0,)
    (cost,) = spent
    assert (cost.tenant, cost.purpose, cost.tokens) == ("t", "extraction", Tokens(90, 30, 10))


@pytest.mark.parametrize(
    "mode", ["429", "500", "529", "reset", "hang", "not_json", "garbage", "cut", "nul", "invented"]
)
async def test_rules_teach_where_it_fails(helper: Helper, api: FakeHelper, mode: str) -> None:
    api.mode = mode
    assert stated(await Learning(helper).learn("t", turns(*SAID), Source(), 5.0)) == [
        ("Eva", "works at", "Acme")
    ]
    api.release()


async def test_that_it_finds_nothing_is_an_answer(helper: Helper, api: FakeHelper) -> None:
    api.mode = "nothing"
    assert await Learning(helper).learn("t", turns(*SAID), Source(), 5.0) == Learned()


async def test_long_sessions_are_read_a_stretch_at_a_time(helper: Helper, api: FakeHelper) -> None:
    said = turns(*(f"Ana{place} lives in Porto. {'x ' * 3_000}" for place in range(9)))
    learned = await Learning(helper).learn("t", said, Source(), 5.0)
    assert [fact.turns for fact in learned.facts] == [(place,) for place in range(9)]
    assert len(api.requests) == 3


async def test_what_tools_answer_and_secrets_do_not_leave(helper: Helper, api: FakeHelper) -> None:
    secret = "AKIA" + "IOSFODNN7ABCDEFG"
    tool = Turn(position=9, role="tool", author=None, text="Eve lives in Oslo.", at=NOW, trust="tool")
    await Learning(helper).learn("t", [*turns(f"key = {secret}\nRui lives in Porto."), tool], Source(), 5.0)
    (prompt,) = api.prompts()
    assert secret not in prompt
    assert "Oslo" not in prompt
    assert "turn:1" in prompt


async def test_a_slow_model_does_not_hold_up_a_step(helper: Helper, api: FakeHelper, spent: Kept) -> None:
    api.mode = "hang"
    learned = await Learning(helper).learn("t", turns(*SAID), Source(), 0.2)
    assert stated(learned) == [("Eva", "works at", "Acme")]
    api.release()


async def test_without_a_model_the_rules_teach() -> None:
    assert await Learning(None).learn("t", turns(*SAID), Source(), 5.0) == rules.learn(turns(*SAID), Source())
