"""A tenant with many sessions, for plans."""

from __future__ import annotations

from collections.abc import AsyncIterator

import asyncpg
import pytest

from local.database import Database, create_database, drop_database
from tests.conftest import Servers
from tests.integration.sessions.reading.many import NAME, fill


@pytest.fixture(scope="package")
async def many_sessions(servers: Servers, template: str) -> AsyncIterator[Database]:
    server = servers.postgres.dsn()
    database = await create_database(server, NAME, template=template)
    admin = await asyncpg.connect(database.admin)
    try:
        await fill(admin)
    finally:
        await admin.close()
    yield database
    await drop_database(server, database.name)
