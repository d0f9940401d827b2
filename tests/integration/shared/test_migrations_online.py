"""What was added to the history since its first release may run while the code before it works."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from local.database import ROLE_VARIABLES, ROOT, Database
from shared.database.postgres import Connection
from tests.integration.shared.test_migrations import alembic, connected
from tests.support.calls import until

# Made before anything ran that they could block.
FIRST_RELEASE = "0004"
WAITING = """
select query from pg_stat_activity
where datname = current_database() and wait_event_type = 'Lock' and query ilike $1
"""
# Alembic brings the transactions; a count of requests fits into 32 bits.
_SETTINGS = ["--assume-in-transaction", "--exclude=transaction-nesting,prefer-bigint-over-int"]


def squawk(sql: Path) -> subprocess.CompletedProcess[str]:
    binary = Path(sys.executable).with_name("squawk")
    return subprocess.run([binary, "--reporter=gcc", *_SETTINGS, sql], capture_output=True, text=True)


async def test_no_migration_blocks_what_runs(empty_database: Database, tmp_path: Path) -> None:
    sql = tmp_path / "since.sql"
    sql.write_text(await alembic(empty_database, "upgrade", f"{FIRST_RELEASE}:head", "--sql"))
    judged = squawk(sql)
    assert judged.returncode == 0, judged.stdout
    sql.write_text("create index i on t (c);\nalter table t add column d int not null;\n")
    judged = squawk(sql)
    assert judged.returncode != 0
    assert "require-concurrent-index-creation" in judged.stdout


@pytest.mark.parametrize("waiting", ["alter table", "create index concurrently"])
async def test_a_killed_migration_runs_again(empty_database: Database, waiting: str) -> None:
    """Killed while it waits for somebody else's transaction, where it is for longest."""
    await alembic(empty_database, "upgrade", FIRST_RELEASE if waiting == "alter table" else "0006")
    async with connected(empty_database.admin) as other, other.transaction():
        await other.execute("lock table context.api_keys in row exclusive mode")
        process = await _upgrade(empty_database)
        async with connected(empty_database.admin) as looking:
            await until(lambda: _waits(looking, waiting), 60)
        process.send_signal(signal.SIGKILL)
        await process.wait()
    await alembic(empty_database, "upgrade", "head")
    assert "(head)" in await alembic(empty_database, "current")
    assert "No new upgrade operations detected" in await alembic(empty_database, "check")
    async with connected(empty_database.admin) as connection:
        assert await connection.fetchval("select count(*) from pg_index where not indisvalid") == 0


async def _upgrade(database: Database) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "alembic", "upgrade", "head"),
        cwd=ROOT,
        env={**os.environ, **ROLE_VARIABLES, "DATABASE_URL": database.owner},
    )


async def _waits(connection: Connection, statement: str) -> None:
    query = await connection.fetchval(WAITING, f"%{statement}%")
    assert query is not None
