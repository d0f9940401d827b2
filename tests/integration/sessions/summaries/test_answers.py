"""Questions with a helper model: its words beside the lines that prove them, and those lines alone without it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator

import asyncpg
import pytest

from local.database import Database
from services.cache.service import CacheService
from services.cache.sessions.asking.schemas import MicroFault, QuestionInput
from services.cache.sessions.objects.schemas import AdmitInput
from services.cache.sessions.schemas import CreateSessionInput
from shared.deadline import Deadline
from shared.llm import HelperSettings
from tests.support.cache_services import cache_service, principal
from tests.support.fakes.fake_helper import FakeHelper

LINES = [f"Customer {number} of the ledger was asked about order {number * 7}." for number in range(90)]
TEXT = "\n".join(LINES)


@pytest.fixture
def api() -> Iterator[FakeHelper]:
    with FakeHelper() as api:
        yield api


@pytest.fixture
async def service(fresh_database: Database, redis_url: str, api: FakeHelper) -> AsyncIterator[CacheService]:
    helper = HelperSettings(kind="anthropic", model="small", api_key=api.key, base_url=api.url[: -len("/v1")])
    async with cache_service(fresh_database, redis_url, helper=helper) as service:
        yield service
        assert service.helper is not None
        await service.helper.close()


async def ask(service: CacheService, seconds: float = 20.0) -> MicroFault:
    wanted = CreateSessionInput(agent_name="scout", external_id="s")
    made = await service.sessions.create(principal("t"), wanted, None, Deadline(20))
    given = AdmitInput(content=TEXT, object_type="tool_result", source_key="ledger")
    await service.admission.admit(principal("t"), str(made.data.id), given, None, Deadline(20))
    asked = QuestionInput(question="who was asked about order 497?")
    return await service.asking.query(principal("t"), str(made.data.id), asked, Deadline(seconds))


async def test_a_models_words_stand_beside_the_lines_that_prove_them(
    service: CacheService, fresh_database: Database
) -> None:
    answered = await ask(service)
    assert answered.model_answer == f"As it says: {LINES[0]}"
    assert (answered.answer, answered.first_line, answered.last_line) == (LINES[0], 1, 1)
    assert answered.recorded
    connection = await asyncpg.connect(fresh_database.admin)
    costs = await connection.fetch("select kind, agent_name, output_tokens from timeline.costs")
    await connection.close()
    assert [tuple(cost) for cost in costs] == [("answer", "scout", 30)]


@pytest.mark.parametrize("mode", ["invented", "nothing", "500", "reset", "garbage"])
async def test_without_a_proof_the_lines_answer_alone(
    service: CacheService, api: FakeHelper, mode: str
) -> None:
    api.mode = mode
    answered = await ask(service)
    assert answered.model_answer is None
    assert answered.answer is not None
    assert LINES[71] in answered.answer


async def test_a_slow_model_takes_no_answer_away(service: CacheService, api: FakeHelper) -> None:
    api.mode = "hang"
    answered = await ask(service, seconds=2.0)
    assert answered.model_answer is None
    assert answered.answer is not None
    assert answered.recorded
