"""Which sessions the schedule finds in the timeline, when, and in which order."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

import local.database
from services.context.consolidation.schedule import Schedule
from services.context.consolidation.schemas import Consolidated
from shared.database.postgres import Connection, Database
from shared.errors import NotFound, Unavailable
from tests.integration.conftest import Tenant

_EVENT = """
insert into timeline.events (tenant, scope, kind, session_id, created_at)
values ($1, 'shared', $2, $3, now() - $4 * interval '1 second')
"""
SILENCE = 1_000.0


class Noting:
    """Notes what is asked of it in place of running."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []
        self.answers: list[str | Exception] = []
        self.wait: Callable[[str], Any] | None = None

    async def consolidate(self, principal: Any, request: Any, *_: Any) -> Consolidated:
        self.asked.append((principal.tenant, request.session_id))
        if self.wait is not None:
            await self.wait(principal.tenant)
        answer = self.answers.pop(0) if self.answers else "finished"
        if isinstance(answer, Exception):
            raise answer
        status: Any = answer
        return Consolidated(status=status, session_id=request.session_id, run_id=1, position=1, through=1)

    def of(self, tenant: Tenant) -> list[str]:
        return [session for name, session in self.asked if name == tenant.name]


@pytest.fixture
async def noting() -> Noting:
    return Noting()


@pytest.fixture
async def schedule(database: local.database.Database, noting: Noting) -> AsyncIterator[Schedule]:
    pool = Database(database.services["context"], connections=2)
    await pool.open()
    yield Schedule(pool, noting, SILENCE)  # type: ignore[arg-type]
    await pool.close()


async def happens(sql: Connection, tenant: Tenant, kind: str, session: str, ago: float = 0) -> None:
    await sql.execute(_EVENT, tenant.name, kind, session, ago)


async def test_a_session_is_silent_from_its_last_event_on(
    schedule: Schedule, noting: Noting, sql: Connection, tenant: Tenant
) -> None:
    await happens(sql, tenant, "session_events", "talks")
    await happens(sql, tenant, "session_events", "silent", SILENCE + 1)
    for _ in range(3):
        await schedule.sweep()
    assert noting.of(tenant) == ["silent"]
    await happens(sql, tenant, "session_closed", "talks")
    await schedule.sweep()
    await schedule.sweep()
    assert noting.of(tenant) == ["silent", "talks"]


async def test_one_sweep_goes_through_all_that_happened(
    schedule: Schedule, noting: Noting, sql: Connection, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("services.context.consolidation.schedule._AT_ONCE", 20)
    monkeypatch.setattr("services.context.consolidation.schedule._OVERLAP", 5)
    schedule._seen = await sql.fetchval("select coalesce(max(id), 0) from timeline.events")
    for number in range(70):
        await happens(sql, tenant, "consolidation_wanted", f"s{number}")
    await schedule.sweep()
    assert noting.of(tenant) == [f"s{number}" for number in range(70)]


async def test_looking_again_does_not_begin_the_silence_anew(
    schedule: Schedule, noting: Noting, sql: Connection, tenant: Tenant
) -> None:
    """The last events are looked at each time, since transactions commit in any order."""
    schedule._seconds = 0.3
    await happens(sql, tenant, "session_events", "s")
    async with asyncio.timeout(20):
        while not noting.of(tenant):
            await schedule.sweep()
            await asyncio.sleep(0.05)
    await schedule.sweep()
    assert noting.of(tenant) == ["s"]


@pytest.mark.parametrize("first", ["unfinished", "under_way", Unavailable("cache", "down")])
async def test_what_is_not_done_is_tried_again(
    schedule: Schedule,
    noting: Noting,
    sql: Connection,
    tenant: Tenant,
    first: str | Exception,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A run that is under way may have begun before the last events."""
    monkeypatch.setattr("services.context.consolidation.schedule._RETRY_SECONDS", 0.0)
    await schedule.sweep()
    await happens(sql, tenant, "consolidation_wanted", "s")
    noting.answers = [first]
    for _ in range(3):
        await schedule.sweep()
    assert noting.of(tenant) == ["s", "s"]


async def test_a_session_that_is_gone_is_left(
    schedule: Schedule, noting: Noting, sql: Connection, tenant: Tenant
) -> None:
    await schedule.sweep()
    await happens(sql, tenant, "consolidation_wanted", "s")
    noting.answers = [NotFound("no session")]
    for _ in range(2):
        await schedule.sweep()
    assert noting.of(tenant) == ["s"]


async def test_a_tenants_long_sessions_keep_no_other_tenant_waiting(
    schedule: Schedule, noting: Noting, sql: Connection, tenants: tuple[Tenant, Tenant]
) -> None:
    slow, quick = tenants
    for number in range(3):
        await happens(sql, slow, "consolidation_wanted", f"s{number}")
    await happens(sql, quick, "consolidation_wanted", "s")
    let_go = asyncio.Event()

    async def wait(tenant: str) -> None:
        if tenant == slow.name:
            await let_go.wait()

    noting.wait = wait
    async with asyncio.timeout(20), asyncio.TaskGroup() as group:
        group.create_task(schedule.sweep())
        while not noting.of(quick):
            await asyncio.sleep(0.01)
        assert noting.of(slow) == ["s0"]
        let_go.set()
