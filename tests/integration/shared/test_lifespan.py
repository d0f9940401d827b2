"""A service closes all that it opened, in reverse order, also when its start fails half-way."""

from __future__ import annotations

import asyncio
import gc
import importlib
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest

from local.database import Database
from tests.support.calls import until
from tests.support.fakes.fake_openai import FakeOpenAI

SERVICES = ("cache", "agent_memory", "context")


def settings_of(service: str, database: Database, redis_url: str, api: FakeOpenAI) -> Any:
    values = {
        "DATABASE_URL": database.services[service],
        "REDIS_URL": redis_url,
        "SCRUBJAY_CACHE_SECRET": "secret",
        "SCRUBJAY_AGENT_MEMORY_SECRET": "secret",
        "SCRUBJAY_EMBEDDER": "openai",
        "OPENAI_API_KEY": api.key,
        "OPENAI_BASE_URL": api.url,
    }
    if service == "context":
        values |= {
            "SCRUBJAY_CACHE_URL": "http://127.0.0.1:1",
            "SCRUBJAY_AGENT_MEMORY_URL": "http://127.0.0.1:1",
        }
    return importlib.import_module(f"services.{service}.settings").Settings.from_env(values)


@pytest.fixture
async def nothing_left(fresh_database: Database) -> AsyncIterator[None]:
    """Afterwards no task, session or connection of the test is open; the event loop reports what was forgotten."""
    reports: list[str] = []
    loop = asyncio.get_running_loop()
    loop.set_exception_handler(lambda _, context: reports.append(context["message"]))
    before = asyncio.all_tasks()
    yield
    gc.collect()
    await asyncio.sleep(0)
    loop.set_exception_handler(None)
    assert asyncio.all_tasks() - before <= {asyncio.current_task()}
    assert reports == []
    await no_connections(fresh_database)


async def no_connections(database: Database) -> None:
    """Waits until the services have none; a server takes a moment to forget one that was closed."""
    query = "select count(*) from pg_stat_activity where datname = $1 and application_name like 'scrubjay-%'"
    sql = await asyncpg.connect(database.admin)
    try:

        async def gone() -> None:
            assert await sql.fetchval(query, database.name) == 0

        await until(gone)
    finally:
        await sql.close()


@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("service", SERVICES)
async def test_a_stop_leaves_nothing(
    service: str,
    fresh_database: Database,
    redis_url: str,
    embedding_api: FakeOpenAI,
) -> None:
    app = importlib.import_module(f"services.{service}.app")
    admission = app.create(settings_of(service, fresh_database, redis_url, embedding_api))
    async with admission.litestar.lifespan():
        await asyncio.sleep(0.1)


# The last that each of them makes: all that may be open is.
LAST = {"cache": "tidy_forever", "agent_memory": "tidy_forever", "context": "KeyService"}


@pytest.mark.usefixtures("nothing_left")
@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("failing", ["Doorbell", "last"])
async def test_a_start_that_fails_closes_what_it_opened(
    service: str,
    failing: str,
    fresh_database: Database,
    redis_url: str,
    embedding_api: FakeOpenAI,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    app = importlib.import_module(f"services.{service}.app")

    def fail(*_: object) -> None:
        raise RuntimeError("cannot be made")

    monkeypatch.setattr(app, LAST[service] if failing == "last" else failing, fail)
    admission = app.create(settings_of(service, fresh_database, redis_url, embedding_api))
    with pytest.RaisesGroup(pytest.RaisesExc(RuntimeError, match="cannot be made"), flatten_subgroups=True):
        async with admission.litestar.lifespan():
            raise AssertionError("it started")
