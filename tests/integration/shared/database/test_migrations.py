"""The history runs from zero and back, equals the described schema, and gives each role its own only."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import asyncpg
import pytest

from local.database import ROLE_VARIABLES, ROOT, Database
from local.revisions import foreign_revision
from services.context.timeline.partitions import maintain
from shared.database.postgres import Connection
from shared.database.postgres import Database as Pool
from shared.database.schema import function
from tests.support.calls import until

OWN = {"cache": "cache", "agent_memory": "memory", "context": "context"}
SERVICES = pytest.mark.parametrize("service", OWN)

TABLES = """
select c.table_schema, c.table_name, array_agg(c.column_name::text order by c.ordinal_position) as columns
from information_schema.columns c
where c.table_schema in ('timeline', 'cache', 'sessions', 'memory', 'context')
    and c.table_name <> 'sequencer' and c.table_name not like 'searchable%'
group by 1, 2 order by 1, 2
"""
OBJECTS = """
select kind, name from (
    select 'table' as kind, n.nspname || '.' || c.relname as name
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    union all
    select 'function', n.nspname || '.' || p.proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    union all
    select 'schema', n.nspname from pg_namespace n
) o
where name ~ '^(timeline|cache|sessions|memory|context)(\\.|$)' and name !~ '_p[0-9]{8}'
order by kind, name
"""


async def alembic(database: Database, *arguments: str, grants: bool = True) -> str:
    """What it printed. Raises AssertionError when it fails."""
    environment = {**os.environ, **(ROLE_VARIABLES if grants else {}), "DATABASE_URL": database.owner}
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "alembic",
        *arguments,
        cwd=ROOT,
        env=environment,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    output = (await process.communicate())[0].decode()
    assert process.returncode == 0, output
    return output


def test_a_file_of_a_function_is_named_after_it() -> None:
    for path in sorted((ROOT / "alembic" / "functions").iterdir()):
        name, _, number = path.stem.rpartition("_v")
        assert number.isdigit(), path.name
        statement = "".join(
            line for line in function(path.stem).splitlines(True) if not line.startswith("--")
        )
        assert statement.startswith(f"create or replace function {name}("), path.name


@asynccontextmanager
async def connected(dsn: str) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(dsn)
    try:
        yield connection
    finally:
        await connection.close()


async def objects(database: Database) -> list[asyncpg.Record]:
    async with connected(database.admin) as connection:
        rows: list[asyncpg.Record] = await connection.fetch(OBJECTS)
        return rows


async def test_up_down_and_up_again(empty_database: Database) -> None:
    await alembic(empty_database, "upgrade", "head")
    first = await objects(empty_database)
    assert len(first) > 20
    assert "No new upgrade operations detected" in await alembic(empty_database, "check")
    await alembic(empty_database, "downgrade", "base")
    assert await objects(empty_database) == []
    await alembic(empty_database, "upgrade", "head")
    assert await objects(empty_database) == first


async def test_migrations_that_start_together_run_once(empty_database: Database) -> None:
    await asyncio.gather(*(alembic(empty_database, "upgrade", "head") for _ in range(3)))
    assert "(head)" in await alembic(empty_database, "current")


async def test_services_may_connect_as_the_owner(empty_database: Database) -> None:
    await alembic(empty_database, "upgrade", "head", grants=False)
    async with connected(empty_database.services["cache"]) as connection:
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await connection.execute("select 1 from cache.missions")


async def test_plain_postgres_is_not_distributed(
    empty_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SCRUBJAY_DISTRIBUTED", "citus")
    with pytest.raises(AssertionError, match="the database has no extension citus"):
        await alembic(empty_database, "upgrade", "head")
    assert "No new upgrade operations detected" in await alembic(empty_database, "check")


@pytest.mark.parametrize("revision", ["0004", "0011"])
async def test_a_database_of_another_history_is_refused(empty_database: Database, revision: str) -> None:
    """Alembic alone would take 0004 for the beginning of a revision of its own."""
    await alembic(empty_database, "upgrade", "head")
    assert await foreign_revision(empty_database.owner) is None
    async with connected(empty_database.owner) as owner:
        await owner.execute("update public.alembic_version set version_num = $1", revision)
    with pytest.raises(AssertionError) as refused:
        await alembic(empty_database, "upgrade", "head")
    assert str(refused.value).splitlines()[0] == (
        f"The database is at revision {revision}, which this code's history does not hold."
    )
    assert await foreign_revision(empty_database.owner) == revision


@SERVICES
async def test_a_role_has_its_own_schema_and_no_other(database: Database, service: str) -> None:
    async with connected(database.admin) as admin:
        tables = await admin.fetch(TABLES)
    async with connected(database.services[service]) as connection:
        for schema, table, columns in tables:
            if "_p20" in table or table.endswith("_default"):
                continue
            for statement in _statements(f"{schema}.{table}", columns):
                allowed = await _allowed(connection, statement)
                assert allowed == _expected(service, schema, table, statement), (service, statement)


def _statements(table: str, columns: list[str]) -> list[str]:
    """EXPLAIN looks at the privileges and does nothing."""
    return [
        f"explain select from {table}",
        f"explain insert into {table} default values",
        f"explain update {table} set {columns[0]} = {columns[0]}",
        f"explain delete from {table}",
        f"truncate {table}",
        f"drop table {table}",
        f"alter table {table} add column mine int",
    ]


def _expected(service: str, schema: str, table: str, statement: str) -> bool:
    verb = statement.removeprefix("explain ").split()[0]
    if verb in ("truncate", "drop", "alter"):
        return False
    if schema == "timeline":
        return verb in _TIMELINE[table] or (service == "context" and verb in _TIMELINE_OF_CONTEXT[table])
    if schema == "sessions":
        return service == "cache" and not (verb == "update" and table in _OF_THE_PAST)
    return schema == OWN[service]


# Of what happened in a session, a purge takes rows, and nothing changes one.
_OF_THE_PAST = {"trail", "fault_history", "fidelity_transitions", "admission_scores"}
_TIMELINE: dict[str, set[str]] = {
    "audit": set(),
    "ceilings": set(),
    "costs": {"insert"},
    "costs_by_day": set(),
    "counter_start": set(),
    "counters": set(),
    "erased": set(),
    "events": {"insert"},
    "review_rules": set(),
    "spending": set(),
}
_TIMELINE_OF_CONTEXT = {
    "audit": {"select"},
    "ceilings": {"select", "insert", "update", "delete"},
    "spending": {"select", "delete"},
    "erased": set(),
    "events": {"select", "update", "delete"},
    "review_rules": {"select", "insert", "delete"},
    "costs": {"select", "delete"},
    "costs_by_day": {"select", "delete"},
    "counter_start": set(),
    "counters": {"select"},
}


async def _allowed(connection: Connection, statement: str) -> bool:
    try:
        await connection.execute(statement)
    except asyncpg.InsufficientPrivilegeError:
        return False
    return True


@SERVICES
async def test_every_role_leaves_events_and_costs(database: Database, service: str) -> None:
    async with connected(database.services[service]) as connection:
        await connection.execute("set scrubjay.tenant = 'roles'")
        await connection.execute(
            "insert into timeline.events (tenant, scope, kind) values ('roles', 'shared', 'test')"
        )
        await connection.execute(
            "insert into timeline.costs (tenant, scope, service, kind, model) values ('roles', 'shared', $1, 'k', 'm')",
            service,
        )
        assert await connection.fetchval("select version_num from public.alembic_version")


@SERVICES
@pytest.mark.parametrize(
    "statement",
    [
        "create table public.mine (id int)",
        "create schema mine",
        "update public.alembic_version set version_num = '0000'",
        "set role scrubjay_owner",
        "select timeline.maintain_partitions('pg_catalog.pg_class', '1 day')",
        "create table cache.mine (id int)",
        "create function cache.mine() returns int language sql as 'select 1'",
    ],
)
async def test_no_role_reaches_further(database: Database, service: str, statement: str) -> None:
    async with connected(database.services[service]) as connection:
        with pytest.raises((asyncpg.InsufficientPrivilegeError, asyncpg.InvalidParameterValueError)):
            await connection.execute(statement)


async def test_partitions_are_made_ahead_and_dropped_past_retention(fresh_database: Database) -> None:
    async with connected(fresh_database.services["context"]) as context:
        for parent in ("timeline.events", "timeline.costs", "context.context_assembly_log"):
            await context.execute("select timeline.maintain_partitions($1, '90 days')", parent)
    async with connected(fresh_database.admin) as admin:
        await admin.execute("""
            create table timeline.events_p20200106 partition of timeline.events
            for values from ('2020-01-06') to ('2020-01-13');
            insert into timeline.events (tenant, scope, kind, created_at)
            values ('t', 's', 'old', '2020-01-07'), ('t', 's', 'older', '2019-01-07'), ('t', 's', 'new', now());
        """)
        ahead = await admin.fetch(
            "select inhrelid::regclass::text as name from pg_inherits where inhparent = 'timeline.events'::regclass"
        )
        assert len([row for row in ahead if row["name"] > "timeline.events_p2026"]) >= 3
    async with connected(fresh_database.services["context"]) as context:
        dropped = await context.fetchval("select timeline.maintain_partitions('timeline.events', '90 days')")
        await context.execute("set scrubjay.tenant = 't'")
        kinds = await context.fetch("select kind from timeline.events")
    assert dropped == 1
    assert [row["kind"] for row in kinds] == ["new"]


async def test_maintaining_partitions_waits_for_a_long_reader_without_blocking_writers(
    fresh_database: Database,
) -> None:
    pool = Pool(fresh_database.services["context"], connections=1)
    await pool.open()
    try:
        async with connected(fresh_database.admin) as reader, connected(fresh_database.admin) as writer:
            await writer.execute(
                "create table timeline.events_p20200106 partition of timeline.events"
                " for values from ('2020-01-06') to ('2020-01-13')"
            )
            await writer.execute("set lock_timeout = '10s'")
            async with reader.transaction():
                await reader.execute("lock table timeline.events in access share mode")
                maintaining = asyncio.create_task(maintain(pool))
                await until(lambda: _waits_for_the_lock(reader))
                for _ in range(5):
                    await writer.execute(
                        "insert into timeline.events (tenant, scope, kind) values ('t', 's', 'new')"
                    )
                assert not maintaining.done()
            await maintaining
            assert await writer.fetchval("select to_regclass('timeline.events_p20200106')") is None
    finally:
        await pool.close()


async def _waits_for_the_lock(connection: Connection) -> None:
    assert await connection.fetchval(
        "select exists (select from pg_locks where not granted and mode = 'AccessExclusiveLock')"
    )
