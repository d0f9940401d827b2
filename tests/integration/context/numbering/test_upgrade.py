"""From one counter for all tenants to one for each: numbers go on, whichever release asks for them."""

from __future__ import annotations

import asyncio
import importlib.util
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from types import ModuleType

import asyncpg
import pytest

from local.database import ROOT, Database
from services.context.timeline import queries
from shared.database.postgres import Connection
from shared.database.schema import function, statements
from tests.integration.context.numbering.test_numbering import EVERY, INSERT, number_all, numbers
from tests.integration.shared.database.test_migrations import alembic
from tests.support.calls import until

BEFORE = "0019_mission_languages"
OLD = "select timeline.number_events(1000)"
OLD_LAST = "select last from timeline.sequencer"
WAITING = "select count(*) from pg_stat_activity where wait_event_type = 'Lock' and query = $1"


@pytest.fixture
async def old_database(empty_database: Database) -> Database:
    await alembic(empty_database, "upgrade", BEFORE)
    return empty_database


@pytest.fixture
async def connections(old_database: Database) -> AsyncIterator[tuple[Connection, Connection]]:
    """The context service's, and the owner's."""
    async with AsyncExitStack() as stack:
        found = []
        for dsn in (old_database.services["context"], old_database.owner):
            connection = await asyncpg.connect(dsn, server_settings=EVERY)
            stack.push_async_callback(connection.close)
            found.append(connection)
        yield found[0], found[1]


async def test_a_client_with_an_old_number_misses_and_repeats_nothing(
    old_database: Database, connections: tuple[Connection, Connection]
) -> None:
    context, _ = connections
    for n in range(30):
        await context.execute(INSERT, f"tenant-{n % 3}", 1)
    assert await context.fetchval(OLD) == 30
    await context.execute(INSERT, "tenant-0", 4)
    await alembic(old_database, "upgrade", "head")
    await context.execute(INSERT, "tenant-1", 5)
    held = (await numbers(context, "tenant-0"))[9]
    assert await number_all(context, "tenant-0") == 34
    assert await number_all(context, "tenant-1") == 35
    assert (await numbers(context, "tenant-0"))[10:] == [31, 32, 33, 34]
    assert held < 31
    await context.execute(INSERT, "new", 2)
    assert await number_all(context, "new") == 32


async def test_the_release_before_numbers_fairly_and_hears_of_it(
    old_database: Database, connections: tuple[Connection, Connection]
) -> None:
    context, _ = connections
    await context.execute(INSERT, "known", 2)
    assert await context.fetchval(OLD) == 2
    await alembic(old_database, "upgrade", "head")
    last = await context.fetchval(OLD_LAST)
    await context.execute(INSERT, "flood", 3_000)
    await context.execute(INSERT, "single", 1)
    assert await context.fetchval(OLD) == 501
    assert await numbers(context, "single") == [3]
    assert await context.fetchval(OLD_LAST) != last
    assert await number_all(context, "flood") == 3_002
    assert await numbers(context, "flood") == list(range(3, 3_003))


async def test_a_call_of_the_old_function_across_the_upgrade_numbers_nothing(
    old_database: Database, connections: tuple[Connection, Connection]
) -> None:
    """It has begun, and gets its lock when the migration commits."""
    context, owner = connections
    migration = _migration()
    await context.execute(INSERT, "t", 3)
    looking = await asyncpg.connect(old_database.admin)
    try:
        async with owner.transaction():
            await owner.execute("lock table timeline.sequencer in access exclusive mode")
            call = asyncio.create_task(context.execute(OLD))
            await until(lambda: _waits(looking, OLD))
            for statement in [*statements(migration.TABLES), migration.REPLACE_SEQUENCER]:
                await owner.execute(statement)
            for name in ("number_tenant_v1", "tenants_waiting_v1", "number_events_v2"):
                await owner.execute(function(f"timeline.{name}"))
        with pytest.raises((asyncpg.InsufficientPrivilegeError, asyncpg.FeatureNotSupportedError)):
            await call
        assert await numbers(context, "t") == [None, None, None]
        assert await queries.number_events(owner, "t", 10) == (3, 3)
    finally:
        await looking.close()


def _migration() -> ModuleType:
    (path,) = (ROOT / "alembic" / "versions").glob("*_timeline_number_by_tenant.py")
    spec = importlib.util.spec_from_file_location("number_by_tenant", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def _waits(connection: Connection, statement: str) -> None:
    assert await connection.fetchval(WAITING, statement) == 1
