"""Runs the one migration history of all schemas, against DATABASE_URL (the owner's)."""

from __future__ import annotations

import asyncio
import os
import re
import time

from alembic import command, context
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, pool, text
from sqlalchemy.ext.asyncio import create_async_engine

from services.agent_memory import tables as _memory  # noqa: F401
from services.cache import tables as _cache  # noqa: F401
from services.context import tables as _context  # noqa: F401
from shared.database.distribution import distribute, wanted
from shared.database.schema import metadata

SCHEMAS = {"timeline", "cache", "sessions", "memory", "context"}
# Partitions come and go by time; the parents describe them.
_PARTITION = re.compile(r"_(p\d{8}|default)$")
# One migration at a time, whoever starts it.
_LOCK = 7_202_611_21
_LOOK_SECONDS = 0.2


def _include_name(name: str | None, kind: str, _: object) -> bool:
    if kind == "schema":
        return name in SCHEMAS
    if kind == "table":
        return not _PARTITION.search(name or "")
    return True


def _configure(connection: Connection | None = None, url: str | None = None) -> None:
    context.configure(
        connection=connection,
        url=url,
        target_metadata=metadata,
        include_schemas=True,
        include_name=_include_name,
        compare_type=True,
        compare_server_default=False,
        version_table_schema="public",
        transaction_per_migration=True,
        literal_binds=url is not None,
    )


def _run(connection: Connection) -> None:
    # Not the lock that waits: a waiting statement has a snapshot, and a concurrent index build waits for that.
    while not connection.execute(text("select pg_try_advisory_lock(:key)"), {"key": _LOCK}).scalar_one():
        connection.commit()
        time.sleep(_LOOK_SECONDS)
    connection.commit()
    _refuse_foreign(connection)
    distributes = wanted(os.environ.get("SCRUBJAY_DISTRIBUTED"))
    _configure(connection)
    with context.begin_transaction():
        context.run_migrations()
    if distributes and _upgrades():
        distribute(connection, metadata)


def _upgrades() -> bool:
    """Not `check`, `current` or `downgrade`."""
    return getattr(context.config.cmd_opts, "cmd", [None])[0] is command.upgrade


def _refuse_foreign(connection: Connection) -> None:
    """Alembic takes the beginning of a revision for the revision, so `0001` of another history would pass."""
    found = connection.execute(text("select to_regclass('public.alembic_version')")).scalar_one()
    rows = connection.execute(text("select version_num from public.alembic_version")) if found else []
    known = {script.revision for script in ScriptDirectory.from_config(context.config).walk_revisions()}
    if unknown := sorted({row[0] for row in rows} - known):
        raise SystemExit(
            f"The database is at revision {unknown[0]}, which this code's history does not hold."
        )
    connection.commit()


async def _online(url: str) -> None:
    engine = create_async_engine(url, poolclass=pool.NullPool)
    async with engine.connect() as connection:
        await connection.run_sync(_run)
    await engine.dispose()


def _url() -> str:
    url = os.environ.get("DATABASE_URL")
    if not url:
        raise SystemExit("DATABASE_URL is missing: the owner's address of the database to migrate")
    return re.sub(r"^postgres(ql)?(\+\w+)?://", "postgresql+asyncpg://", url)


if context.is_offline_mode():
    _configure(url=_url())
    with context.begin_transaction():
        context.run_migrations()
else:
    asyncio.run(_online(_url()))
