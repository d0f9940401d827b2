"""Migrations after the first release run while the code before them works, and start again when they are killed."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from local.database import ROLE_VARIABLES, ROOT, Database
from shared.database.postgres import Connection
from tests.integration.shared.database.test_migrations import alembic, connected
from tests.support.calls import until

# Made before anything ran that they could block.
FIRST_RELEASE = "0004_context"
WAITING = """
select query from pg_stat_activity
where datname = current_database() and wait_event_type = 'Lock' and query ilike $1
"""
# Alembic brings the transactions; a count of requests fits into 32 bits, the number of a chunk into 16. A
# column that becomes optional is read by no service any more.
_SETTINGS = [
    "--assume-in-transaction",
    "--exclude=transaction-nesting,prefer-bigint-over-int,prefer-bigint-over-smallint,ban-drop-not-null",
]

# Two migrations of the kinds that wait for other transactions, as CONTRIBUTING.md says to write them.
_MIGRATION = """
from alembic import op
revision, down_revision, branch_labels, depends_on = "{revision}", "{before}", None, None
def upgrade():
    {up}
def downgrade():
    {down}
"""
ADD_COLUMN = _MIGRATION.format(
    revision="9001_context",
    before=FIRST_RELEASE,
    up="""op.execute("set local lock_timeout = '60s'")
    op.execute("set local statement_timeout = '60s'")
    op.execute("alter table context.api_keys add column example text")""",
    down='op.execute("alter table context.api_keys drop column example")',
)
ADD_INDEX = _MIGRATION.format(
    revision="9002_context",
    before="9001_context",
    up="""with op.get_context().autocommit_block():
        op.execute("drop index concurrently if exists context.api_keys_example")
        op.execute("create index concurrently if not exists api_keys_example on context.api_keys (example)")""",
    down="""with op.get_context().autocommit_block():
        op.execute("drop index concurrently if exists context.api_keys_example")""",
)


def squawk(sql: Path) -> subprocess.CompletedProcess[str]:
    binary = Path(sys.executable).with_name("squawk")
    return subprocess.run([binary, "--reporter=gcc", *_SETTINGS, sql], capture_output=True, text=True)


@pytest.fixture
def examples(tmp_path: Path) -> Path:
    """A configuration whose history is the first release and the two examples."""
    shutil.copytree(ROOT / "alembic", tmp_path / "alembic", ignore=shutil.ignore_patterns("__pycache__"))
    versions = tmp_path / "alembic" / "versions"
    for migration in versions.glob("*.py"):
        if migration.name[:4] > FIRST_RELEASE[:4]:
            migration.unlink()
    (versions / "9001_context_add_example.py").write_text(ADD_COLUMN)
    (versions / "9002_context_index_example.py").write_text(ADD_INDEX)
    settings = (ROOT / "alembic.ini").read_text()
    settings = settings.replace("prepend_sys_path = %(here)s", f"prepend_sys_path = {ROOT}")
    configuration = tmp_path / "alembic.ini"
    configuration.write_text(settings)
    return configuration


async def test_no_migration_blocks_what_runs(
    empty_database: Database, tmp_path: Path, examples: Path
) -> None:
    sql = tmp_path / "since.sql"
    for configuration in (ROOT / "alembic.ini", examples):
        upgrade = ("-c", str(configuration), "upgrade", f"{FIRST_RELEASE}:head", "--sql")
        sql.write_text(await alembic(empty_database, *upgrade))
        judged = squawk(sql)
        assert judged.returncode == 0, judged.stdout
    assert "create index concurrently" in sql.read_text()
    sql.write_text("create index i on t (c);\nalter table t add column d int not null;\n")
    judged = squawk(sql)
    assert judged.returncode != 0
    assert "require-concurrent-index-creation" in judged.stdout


class Kill(NamedTuple):
    """`start` is where the database stands, `locked` what another transaction holds, `waiting` what waits for it."""

    start: str
    locked: str
    waiting: str


KILLS = {
    # Everything of the migration is done but its last statement.
    "tables and functions": Kill("0001_timeline", "public.alembic_version", "update public.alembic_version"),
    "a column": Kill(FIRST_RELEASE, "context.api_keys", "alter table"),
    "an index": Kill("9001_context", "context.api_keys", "create index concurrently"),
}


@pytest.mark.parametrize("kill", KILLS.values(), ids=KILLS)
async def test_a_killed_migration_runs_again(empty_database: Database, examples: Path, kill: Kill) -> None:
    """Killed while it waits for somebody else's transaction, where it is for longest."""
    configuration = ("-c", str(examples))
    await alembic(empty_database, *configuration, "upgrade", kill.start)
    async with connected(empty_database.admin) as other, other.transaction():
        await other.execute(f"lock table {kill.locked} in row exclusive mode")
        if "alembic_version" in kill.locked:
            await other.execute("select 1 from public.alembic_version for update")
        process = await _upgrade(empty_database, examples)
        async with connected(empty_database.admin) as looking:
            await until(lambda: _waits(looking, kill.waiting), 60)
        process.send_signal(signal.SIGKILL)
        await process.wait()
    await alembic(empty_database, *configuration, "upgrade", "head")
    assert "(head)" in await alembic(empty_database, *configuration, "current")
    async with connected(empty_database.admin) as connection:
        assert await connection.fetchval("select count(*) from pg_index where not indisvalid") == 0
        assert await connection.fetchval("select to_regclass('context.api_keys_example')")
    await alembic(empty_database, *configuration, "downgrade", FIRST_RELEASE)
    await alembic(empty_database, "upgrade", "head")
    assert "No new upgrade operations detected" in await alembic(empty_database, "check")


async def _upgrade(database: Database, configuration: Path) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "alembic", "-c", str(configuration), "upgrade", "head"),
        cwd=ROOT,
        env={**os.environ, **ROLE_VARIABLES, "DATABASE_URL": database.owner},
    )


async def _waits(connection: Connection, statement: str) -> None:
    query = await connection.fetchval(WAITING, f"%{statement}%")
    assert query is not None
