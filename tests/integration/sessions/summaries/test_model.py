"""Summaries by a helper model: kept where they say the truth of themselves, and paid for in any case."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any
from uuid import UUID

import asyncpg
import pytest

from local.database import Database
from services.cache.service import CacheService
from services.cache.sessions.objects.schemas import AdmitInput
from services.cache.sessions.schemas import CreateSessionInput
from shared.database.postgres import Connection
from shared.deadline import Deadline
from shared.llm import HelperSettings
from tests.support.cache_services import cache_service, principal
from tests.support.fakes.fake_helper import FakeHelper

TEXT = "".join(
    f"Customer {number} of the ledger was asked about order {number * 7}.\n" for number in range(90)
)
COLUMNS = (
    "summary_detailed, summary_compact, losses_l1, losses_l2, can_answer_l1, tokens_l0, tokens_l1, tokens_l2"
)
OBJECT = f"select {COLUMNS} from sessions.semantic_objects"
COSTS = "select * from timeline.costs"


@pytest.fixture
def api() -> Iterator[FakeHelper]:
    with FakeHelper() as api:
        yield api


@pytest.fixture
async def service(fresh_database: Database, redis_url: str, api: FakeHelper) -> AsyncIterator[CacheService]:
    helper = HelperSettings(kind="openai", model="small", api_key=api.key, base_url=api.url, timeout=5.0)
    async with cache_service(fresh_database, redis_url, helper=helper) as service:
        yield service
        assert service.helper is not None
        await service.helper.close()


@pytest.fixture
async def rows(fresh_database: Database) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(fresh_database.admin)
    yield connection
    await connection.close()


async def admitted(service: CacheService, content: str = TEXT) -> str:
    """The session of one more object."""
    wanted = CreateSessionInput(agent_name="scout", mission_id="m")
    made = await service.sessions.create(principal("t"), wanted, None, Deadline(20))
    given = AdmitInput(content=content, object_type="tool_result")
    await service.admission.admit(principal("t"), str(made.data.id), given, None, Deadline(20))
    return str(made.data.id)


async def test_a_model_writes_the_summaries_and_its_cost_is_the_sessions(
    service: CacheService, rows: Connection
) -> None:
    session = await admitted(service)
    assert await service.summaries.round() == 1
    found = await rows.fetchrow(OBJECT)
    assert found is not None
    assert found["summary_detailed"] == TEXT[: len(found["summary_detailed"])]
    assert 0.15 <= found["tokens_l1"] / found["tokens_l0"] <= 0.40
    assert 0.02 <= found["tokens_l2"] / found["tokens_l0"] <= 0.08
    (cost,) = await rows.fetch(COSTS)
    named: Any = {
        name: cost[name] for name in ("tenant", "service", "kind", "model", "agent_name", "mission_id")
    }
    assert named == {
        "tenant": "t",
        "service": "cache",
        "kind": "summary",
        "model": "openai:small",
        "agent_name": "scout",
        "mission_id": "m",
    }
    assert (cost["session_id"], cost["scope"]) == (session, "mission:m")
    assert (cost["input_tokens"], cost["output_tokens"], cost["cache_read_tokens"]) == (90, 30, 10)


@pytest.mark.parametrize(
    "mode", ["lost", "kept", "long", "invented", "garbage", "500", "429", "not_json", "reset"]
)
async def test_a_summary_that_is_not_true_gives_way_to_lines_of_the_text(
    service: CacheService, rows: Connection, api: FakeHelper, mode: str
) -> None:
    api.mode = mode
    await admitted(service)
    assert await service.summaries.round() == 1
    found = await rows.fetchrow(OBJECT)
    assert found is not None
    assert found["tokens_l2"] < found["tokens_l1"] < found["tokens_l0"]
    assert found["summary_detailed"] != TEXT[: len(found["summary_detailed"])]
    paid = mode in ("lost", "kept", "long", "invented", "garbage")
    # A call without an answer leaves a row of its own, which nobody waits for.
    assert len(await rows.fetch(f"{COSTS} where outcome = 'ok'")) == paid
    assert await service.summaries.round() == 0


async def test_short_objects_need_no_model(service: CacheService, api: FakeHelper) -> None:
    await admitted(service, TEXT[:1_200])
    assert await service.summaries.round() == 1
    assert not api.requests


async def test_a_session_that_is_gone_leaves_its_name_in_no_cost(
    service: CacheService, rows: Connection, api: FakeHelper
) -> None:
    session = await admitted(service)
    assert await service.summaries.round() == 1
    await service.sessions.delete(principal("t"), session, Deadline(20))
    (cost,) = await rows.fetch(COSTS)
    assert cost["session_id"] is None
    # And so does a call that ends after the session.
    assert service.helper is not None
    await service.helper.answer("who?", [TEXT], tenant="t", session_id=UUID(session))
    kept = await rows.fetch(f"{COSTS} where kind = 'answer'")
    assert [(each["session_id"], each["agent_name"], each["scope"]) for each in kept] == [
        (None, None, "shared")
    ]
