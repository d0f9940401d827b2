"""The policies of the tables: a statement that forgets its tenant neither sees nor changes another tenant's rows."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any

import asyncpg
import pytest
from pgvector.asyncpg import register_vector

from bench.policies.removal import remove_policies
from local.database import SERVICE_ROLES, Database, create_database, drop_database
from shared.database.postgres import EVERY_TENANT, Connection, Tenants
from shared.database.postgres import Database as Pool
from shared.database.tenancy import OPEN, POLICY, STRICT, look
from shared.deadline import Deadline
from tests.conftest import Servers
from tests.support import twins
from tests.support.twins import TENANTS
from tools.distribution.collected import EVERY, Statement
from tools.distribution.tables import VIEWS

MINE, THEIRS = TENANTS
_PREDICATE = re.compile(r"(?:\b[a-z]+\.)?\btenant (?:=|is not distinct from) (\$\d+)(?:::\w+)?")
FORGETFUL = [statement for statement in EVERY if _PREDICATE.search(statement.sql)]
# Some statements need values that only their service makes. Those find nothing even as a superuser.
_UNTOLD = 0.4

_MAY = """
select has_table_privilege($1, c.oid, $3) and has_schema_privilege($1, c.relnamespace, 'usage')
from pg_class c where c.oid = $2::text::regclass
"""
POLICIES = """
select c.oid::regclass::text as name, c.relrowsecurity as enabled, p.polname as policy,
       pg_get_expr(p.polqual, p.polrelid) as rule, p.polwithcheck is null as checks_writes_alike
from unnest($1::text[]) t(name) join pg_class c on c.oid = t.name::regclass
left join pg_policy p on p.polrelid = c.oid
"""


@pytest.fixture(scope="module")
async def filled(servers: Servers, template: str) -> AsyncIterator[Database]:
    server = servers.postgres.dsn()
    database = await create_database(server, "row_security", template=template)
    admin = await asyncpg.connect(database.admin)
    await twins.fill(admin)
    await admin.close()
    yield database
    await drop_database(server, database.name)


@pytest.fixture
async def admin(filled: Database) -> AsyncIterator[Connection]:
    connection = await asyncpg.connect(filled.admin)
    await register_vector(connection)
    yield connection
    await connection.close()


async def acting(connection: Connection, role: str, tenant: str | None) -> None:
    """Inside a transaction of a superuser."""
    await connection.execute(f"set local role {role}")
    if tenant is not None:
        await connection.execute("select set_config('scrubjay.tenant', $1, true)", tenant)


async def readable(connection: Connection, role: str) -> list[str]:
    return [
        table
        for table in [*await twins.tables(connection), *VIEWS]
        if await connection.fetchval(_MAY, role, table, "select")
    ]


async def theirs(connection: Connection) -> dict[str, Any]:
    """The rows of the other tenant, by table."""
    return {
        table: await connection.fetchval(
            f"select array_agg(t::text order by t::text) from {table} t where tenant = $1", THEIRS
        )
        for table in await twins.tables(connection)
    }


async def test_every_table_with_a_tenant_has_the_strict_policy(admin: Connection) -> None:
    tables = await twins.tables(admin)
    assert len(tables) >= 22
    rows = await admin.fetch(POLICIES, tables)
    assert {row["name"] for row in rows} == set(tables)
    await admin.execute(f"create table public.model (tenant text); create policy p on model using ({STRICT})")
    rule = await admin.fetchval("select pg_get_expr(polqual, polrelid) from pg_policy where polname = 'p'")
    await admin.execute("drop table public.model")
    for row in rows:
        assert row["enabled"], row["name"]
        assert row["policy"] == POLICY, row["name"]
        assert row["rule"] == rule, row["name"]
        assert row["checks_writes_alike"]


@pytest.mark.parametrize("role", SERVICE_ROLES.values())
async def test_a_role_sees_the_tenant_of_its_transaction(admin: Connection, role: str) -> None:
    tables = await readable(admin, role)
    assert len(tables) >= 5
    for tenant, expected in ((None, set()), ("", set()), (MINE, {MINE}), (THEIRS, {THEIRS}), ("*", set())):
        async with admin.transaction():
            await acting(admin, role, tenant)
            for table in tables:
                rows = await admin.fetch(f"select tenant from {table}")
                assert {row["tenant"] for row in rows} == expected, (table, tenant)


@pytest.mark.parametrize("role", SERVICE_ROLES.values())
async def test_partitions_have_no_way_around(admin: Connection, role: str) -> None:
    partitions = await admin.fetch(
        "select oid::regclass::text as name from pg_class where relispartition and relkind = 'r'"
    )
    assert len(partitions) > 10
    for partition in partitions:
        async with admin.transaction():
            if await admin.fetchval(_MAY, role, partition["name"], "select"):
                await acting(admin, role, MINE)
                assert await admin.fetch(f"select from {partition['name']}") == [], partition["name"]


@pytest.mark.parametrize("statement", FORGETFUL, ids=lambda s: f"{s.name} as {s.role}")
async def test_a_statement_without_its_tenant_touches_no_other(
    admin: Connection, statement: Statement
) -> None:
    before = await theirs(admin)
    async with rolled_back(admin):
        await acting(admin, SERVICE_ROLES[statement.role], MINE)
        found = await run(admin, statement)
        await admin.execute("reset role")
        assert await theirs(admin) == before
    assert THEIRS not in str(found)
    # A row that is found in several ways counts once.
    assert len(set(map(str, found))) <= 1


async def test_without_policies_most_of_them_would(admin: Connection) -> None:
    """The control: as a superuser, the same statements find or change the other tenant's rows."""
    untold = []
    for statement in FORGETFUL:
        async with rolled_back(admin):
            await acting(admin, SERVICE_ROLES[statement.role], MINE)
            own = await run(admin, statement)
        if not await _finds_more(admin, statement, own):
            untold.append(statement.name)
    assert len(untold) < _UNTOLD * len(FORGETFUL), untold


async def _finds_more(admin: Connection, statement: Statement, own: list[Any]) -> bool:
    before = await theirs(admin)
    async with rolled_back(admin):
        try:
            return await run(admin, statement) != own or await theirs(admin) != before
        except (asyncpg.CardinalityViolationError, asyncpg.UniqueViolationError):
            return True  # two rows where there is one


class rolled_back:
    """A savepoint whose changes go away."""

    def __init__(self, connection: Connection) -> None:
        self._transaction = connection.transaction()

    async def __aenter__(self) -> None:
        await self._transaction.start()

    async def __aexit__(self, *_: object) -> None:
        await self._transaction.rollback()


async def run(connection: Connection, statement: Statement) -> list[Any]:
    """The statement without its predicate on the tenant."""
    prepared = await connection.prepare(_PREDICATE.sub(r"\1::text is not null", statement.sql))
    types = [_name(type_) for type_ in prepared.get_parameters()]
    return [tuple(row) for row in await prepared.fetch(*twins.parameters(statement.sql, types))]


def _name(type_: asyncpg.Type) -> str:
    known = {
        "timestamptz": "timestamp with time zone",
        "int8": "bigint",
        "int4": "integer",
        "int2": "smallint",
        "float4": "real",
        "float8": "real",
    }
    array = type_.kind == "array"
    name = type_.name.removesuffix("[]")
    return known.get(name, name) + ("[]" if array else "")


@pytest.mark.parametrize("role", SERVICE_ROLES.values())
async def test_no_row_is_written_for_another_tenant(admin: Connection, role: str) -> None:
    tried = 0
    for table in await twins.tables(admin):
        if not await admin.fetchval(_MAY, role, table, "insert"):
            continue
        async with rolled_back(admin):
            await admin.execute("set local session_replication_role = replica")

            await acting(admin, role, MINE)
            with pytest.raises(asyncpg.InsufficientPrivilegeError, match="row-level security"):
                await admin.execute(f"insert into {table} (tenant) values ('{THEIRS}')")
            tried += 1
    assert tried >= 5


async def test_the_pool_names_the_tenant_and_forgets_it(filled: Database) -> None:
    pool = Pool(filled.services["cache"], connections=1)
    await pool.open()
    try:

        async def seen(tenant: str | Tenants | None) -> set[str]:
            async def work(c: Connection) -> set[str]:
                return {row["tenant"] for row in await c.fetch("select tenant from cache.missions")}

            return await (
                pool.call(work, Deadline(5)) if tenant is None else pool.run(tenant, work, Deadline(5))
            )

        for tenant, expected in (
            (None, set()),
            (MINE, {MINE}),
            (None, set()),
            (EVERY_TENANT, {MINE, THEIRS}),
            (None, set()),
            (THEIRS, {THEIRS}),
            ("*", set()),
            ("on", set()),
            (f"{MINE}' or 'x' = 'x", set()),
            ("\\'; reset role; --", set()),
            (MINE, {MINE}),
        ):
            assert await seen(tenant) == expected, tenant
    finally:
        await pool.close()


async def test_a_look_names_its_tenant_and_forgets_it(filled: Database) -> None:
    pool = Pool(filled.services["cache"], connections=1)
    await pool.open()
    seen = "select tenant, $1::text as asked from cache.missions"
    expected = {MINE: {MINE}, THEIRS: {THEIRS}, "on": set(), f"{MINE}' or 'x' = 'x": set()}
    try:
        for tenant, tenants in expected.items():
            rows = await pool.look(tenant, look(seen), [], Deadline(30))
            assert {row["tenant"] for row in rows} == tenants, tenant
            assert await pool.call(lambda c: c.fetch(seen, MINE), Deadline(30)) == []
    finally:
        await pool.close()


async def test_code_that_sets_nothing_works_until_the_policies_close(fresh_database: Database) -> None:
    """The release before, during an upgrade of a database in use."""
    admin = await asyncpg.connect(fresh_database.admin)
    await admin.execute(
        "insert into cache.missions (tenant, mission_id) values ('mine', 'm'), ('theirs', 'm')"
    )
    await admin.execute(f"alter policy {POLICY} on cache.missions using ({OPEN})")
    service = await asyncpg.connect(fresh_database.services["cache"])
    count = "select count(*) from cache.missions"
    assert await service.fetchval(count) == 2
    async with service.transaction():
        await service.execute("set local scrubjay.tenant = 'mine'")
        assert await service.fetchval(count) == 1
    assert await service.fetchval(count) == 2
    await admin.execute(f"alter policy {POLICY} on cache.missions using ({STRICT})")
    assert await service.fetchval(count) == 0
    await service.close()
    await admin.close()


@pytest.mark.parametrize(
    "function",
    [
        "cache.put_entries",
        "memory.commit_new",
        "memory.commit_new_facts",
        "memory.find_repeats",
        "memory.find_same_facts",
        "memory.put_chunks",
        "memory.put_memories",
    ],
)
async def test_writes_run_with_the_rights_of_the_tables_owner(admin: Connection, function: str) -> None:
    """`create or replace` makes a function run with its caller's rights again, unless it says otherwise."""
    rows = await admin.fetch(
        "select prosecdef, proacl::text as access from pg_proc where oid = $1::regproc", function
    )
    assert [row["prosecdef"] for row in rows] == [True]
    assert "{=" not in rows[0]["access"], "anyone may execute it"
    assert ",=" not in rows[0]["access"], "anyone may execute it"


async def test_a_bench_without_policies_sees_every_tenant(fresh_database: Database) -> None:
    """Otherwise it would measure the policies both times."""
    admin = await asyncpg.connect(fresh_database.admin)
    await twins.fill(admin)
    service = await asyncpg.connect(fresh_database.services["agent_memory"])
    seen = "select distinct tenant from memory.searchable_chunks order by 1"
    assert await service.fetch(seen) == []
    await remove_policies(fresh_database.owner)
    assert [row["tenant"] for row in await service.fetch(seen)] == sorted(TENANTS)
    await service.close()
    assert not any(row["enabled"] for row in await admin.fetch(POLICIES, await twins.tables(admin)))
    await admin.close()
