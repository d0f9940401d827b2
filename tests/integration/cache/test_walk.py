"""How many functions of the project a write passes on its way from the route to the statement."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from litestar.testing import RequestFactory

from local.database import ROOT, Database
from services.cache.entries import routes, writing
from services.cache.entries.queries_write import put_entries
from services.cache.entries.schemas import WriteAnswer
from shared.deadline import Deadline
from tests.support.cache_services import cache_service, intel, principal

# The frames of `Database.run` count as this many at most.
OF_DATABASE = 2
MOST = 6


def of_project(file: str) -> bool:
    return Path(file).is_relative_to(ROOT) and Path(file).relative_to(ROOT).parts[0] in ("services", "shared")


def awaiting(task: asyncio.Task[Any]) -> Iterator[str]:
    """The project's coroutines that wait for each other in a suspended task, the outermost first."""
    coroutine: Any = task.get_coro()
    while hasattr(coroutine, "cr_code"):
        if of_project(coroutine.cr_code.co_filename):
            yield f"{Path(coroutine.cr_code.co_filename).relative_to(ROOT)}:{coroutine.cr_code.co_name}"
        coroutine = coroutine.cr_await


def running() -> list[str]:
    """The same for the task that runs."""
    frames = [frame for frame in traceback.extract_stack() if of_project(frame.filename)]
    return [f"{Path(frame.filename).relative_to(ROOT)}:{frame.name}" for frame in frames]


async def test_a_write_passes_six_functions_at_most(
    database: Database, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    walk: list[str] = []

    async def observed(*args: Any, **named: Any) -> Any:
        walk.extend([*awaiting(request), *running(), "services/cache/entries/queries_write.py:put_entries"])
        return await put_entries(*args, **named)

    monkeypatch.setattr(writing, "put_entries", observed)
    async with cache_service(database, redis_url) as service:
        request: asyncio.Task[WriteAnswer] = asyncio.ensure_future(
            routes.write.fn(
                request=RequestFactory().post("/api/psychic-cache/write"),
                data=intel("walk", "one write"),
                writer=service.writer,
                principal=principal("walk"),
                deadline=Deadline(10),
            )
        )
        assert (await request).data.id
    print(*walk, sep="\n")
    of_database = [place for place in walk if place.startswith("shared/database/")]
    assert len(walk) - len(of_database) + min(len(of_database), OF_DATABASE) <= MOST, walk
    assert walk[0] == "services/cache/entries/routes.py:write"
    assert of_database
