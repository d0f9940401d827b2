"""Every SQL statement of the services is prepared, and planned as its service's role, on the migrated schema."""

from __future__ import annotations

import ast
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import asyncpg
import numpy as np
import pytest
from pgvector import HalfVector
from pgvector.asyncpg import register_vector

import local.database
from services.cache.entries import queries_search as queries
from shared.database.postgres import Connection
from shared.search.store import StoreQuery
from tests.conftest import Servers
from tools.distribution.collected import (
    EVERY,
    FILES,
    MAKERS,
    ROLES,
    TEMPLATES,
    Statement,
    literals,
    made,
    parsed,
    place,
)


@pytest.mark.parametrize("statement", EVERY, ids=lambda s: f"{s.name} as {s.role}")
async def test_a_statement_is_prepared_and_allowed(
    database: local.database.Database, statement: Statement
) -> None:
    connection = await asyncpg.connect(database.services[statement.role])
    try:
        await connection.prepare(statement.sql)
        await connection.execute(f"explain (generic_plan) {statement.sql}")
    finally:
        await connection.close()


def test_every_owner_is_covered() -> None:
    names = {statement.name for statement in EVERY}
    assert len(names) > 60
    for folder in ROLES:
        assert any(name.startswith(f"{folder}/") and "/queries" in name for name in names)
    assert {
        name.split(":")[0] for name in names if name.startswith(("QueueStatements", "StoreStatements"))
    } >= {
        "QueueStatements of cache",
        "QueueStatements of memory",
        "StoreStatements of cache.psychic_cache",
        "StoreStatements of memory.agent_memory",
    }
    assert sum(":PURGE[" in name for name in names) > 6


def test_no_statement_stands_outside_of_a_constant() -> None:
    """A statement inside a function would never be prepared here."""
    for path in FILES:
        inside = {
            literal.lineno
            for top in parsed(path).body
            if isinstance(top, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and top.name not in MAKERS
            for literal in literals(top)
        }
        assert not inside, f"{place(path)}, lines {sorted(inside)}"


def test_no_constant_is_missed() -> None:
    for path in FILES:
        for top in parsed(path).body:
            if isinstance(top, ast.Assign | ast.AnnAssign) and list(literals(top)):
                target = top.targets[0] if isinstance(top, ast.Assign) else top.target
                assert isinstance(target, ast.Name)
                name = f"{place(path)}:{target.id}"
                known = any(statement.name.startswith(f"{name}[") for statement in EVERY)
                assert known or (place(path), target.id) in TEMPLATES, name


@pytest.mark.parametrize("kind", MAKERS)
def test_a_maker_keeps_each_of_its_statements(kind: str) -> None:
    statements = list(made(kind, "", MAKERS[kind]("s")))
    bodies = [
        n for path in FILES for n in parsed(path).body if isinstance(n, ast.ClassDef) and n.name == kind
    ]
    assert len(bodies) == 1
    assert len(list(literals(bodies[0]))) == len(statements) > 0


def test_the_collector_sees_what_it_should() -> None:
    source = (
        'A = "select 1 from t"\ndef f(): g(f"update {x} set y = 1"); h("with a as (select 1) select 2")\n'
    )
    assert [literal.lineno for literal in literals(ast.parse(source))] == [1, 2, 2]
    assert list(literals(ast.parse('"Select what fits."\nx = "selected"; y = "with care"'))) == []


# --- plans of the hot statement ------------------------------------------------------------------------------

TENANT, LATE, MODEL = "plans", "late", "a-model"
SCOPES, EACH = 100, 1_000
ONE = ["mission:mission-7"]
SOME = [f"mission:mission-{n}" for n in range(1, 11)]
# Short texts of common words, one rare word each; vectors in clusters, as those of models are.
FILL = f"""
insert into cache.missions (tenant, mission_id)
select $1, 'mission-' || n from generate_series(1, {SCOPES}) n;
"""
FILL_ENTRIES = f"""
insert into cache.psychic_cache (tenant, mission_id, context_type, content, token_count, written_by, source_kind,
                                 created_at, expires_at)
select $1, 'mission-' || 1 + n % {SCOPES}, 'intel',
       'The gateway answers slowly and the queue grows because of node' || n || ' in region' || n % 7,
       20, 'test', 'agent', clock_timestamp(), 'infinity'
from generate_series(1, {SCOPES * EACH}) n
"""
FILL_CHUNKS = """
insert into cache.psychic_chunks
    (tenant, scope, item_id, chunk, chunks, start, stop, words, expires_at, tsv)
select e.tenant, e.scope, e.id, w.chunk, 1, w.start, w.stop, w.words, e.expires_at, w.tsv
from cache.psychic_cache e
cross join lateral cache.chunk_words(
    null, array[0], array[length(e.content)], array[e.content], array['english'], array[''], '', null) w
where e.tenant = $1 and e.scope = any($2)
"""
FILL_LATE = """
with mission as (insert into cache.missions (tenant, mission_id) values ($1, 'mission-7'))
insert into cache.psychic_cache (tenant, mission_id, context_type, content, token_count, written_by, source_kind,
                                 created_at, expires_at)
select $1, 'mission-7', 'intel', 'Lesson ' || n, 20, 'test', 'agent', clock_timestamp(), 'infinity'
from generate_series(1, 3000) n
"""
FILL_VECTORS = """
insert into cache.psychic_vec (tenant, scope, item_id, chunk, model, expires_at, embedding)
select e.tenant, e.scope, e.id, 0, $2, e.expires_at, c.embedding
from cache.psychic_cache e
join unnest($3::int[], $4::halfvec[]) c(place, embedding) on c.place = e.id % cardinality($3)
where e.tenant = $1
"""


@pytest.fixture(scope="module")
async def crowded(servers: Servers, template: str) -> AsyncIterator[Connection]:
    """100,000 entries in 100 missions, vacuumed; as the service's role. Statistics know nothing of the late tenant."""
    server = servers.postgres.dsn()
    database = await local.database.create_database(server, "plans", template=template)
    owner = await asyncpg.connect(database.admin)
    await register_vector(owner)
    scopes = [f"mission:mission-{n}" for n in range(1, SCOPES + 1)]
    clusters = np.random.default_rng(7).normal(size=(50, 512)).astype(np.float32)
    await owner.execute(FILL.replace("$1", f"'{TENANT}'"))
    await owner.execute(FILL_ENTRIES, TENANT)
    await owner.execute(FILL_CHUNKS, TENANT, scopes)
    await owner.execute(
        FILL_VECTORS, TENANT, MODEL, list(range(50)), [HalfVector(vector) for vector in clusters]
    )
    await owner.execute("vacuum analyze")
    await owner.execute(FILL_LATE, LATE)
    await owner.execute(FILL_CHUNKS, LATE, ONE)
    await owner.close()
    connection = await asyncpg.connect(
        database.services["cache"], server_settings={"scrubjay.tenant": TENANT}
    )
    await register_vector(connection)
    yield connection
    await connection.close()
    await local.database.drop_database(server, database.name)


async def plan_of(
    connection: Connection,
    query: str,
    scopes: list[str],
    users: list[str] | None = None,
    tenant: str = TENANT,
) -> list[dict[str, Any]]:
    """Every node of the search's plan, as it ran."""
    asked = StoreQuery(
        query=query, vector=HalfVector(np.ones(512, np.float32)), model=MODEL, depth=100, users=users
    )
    values = asked.values(queries.missions_scope(tenant, scopes))
    statement = queries.SEARCH.of(values, approximate=False)
    (row,) = await connection.fetch(
        f"explain (analyze, buffers, format json) {statement.sql}", *statement.arguments(values)
    )
    return list(_nodes(json.loads(row[0])[0]["Plan"]))


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node.get("Plans", []):
        yield from _nodes(child)


def _by_index(nodes: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [node for node in nodes if node.get("Index Name") == name]


@pytest.mark.parametrize("users", [None, ["alice"]], ids=["all users", "one user"])
@pytest.mark.parametrize("scopes", [ONE, SOME], ids=["one scope", "ten scopes"])
async def test_vectors_of_a_scope_come_by_its_index(
    crowded: Connection, scopes: list[str], users: list[str] | None
) -> None:
    nodes = await plan_of(crowded, "why does the gateway answer slowly?", scopes, users)
    (scan,) = [node for node in _by_index(nodes, "psychic_vec_of_scope") if node["Actual Rows"] >= EACH]
    assert scan["Actual Rows"] == EACH * len(scopes)


@pytest.mark.parametrize(
    "query", ["node777", "why does the gateway answer slowly?", "gateway queue node14 region3 slowly grows"]
)
@pytest.mark.parametrize("scopes", [ONE, SOME], ids=["one scope", "ten scopes"])
async def test_no_table_is_read_from_end_to_end(crowded: Connection, query: str, scopes: list[str]) -> None:
    nodes = await plan_of(crowded, query, scopes)
    # A hundred missions are two pages.
    scans = [node["Relation Name"] for node in nodes if node["Node Type"] == "Seq Scan"]
    assert set(scans) <= {"missions"}
    text = _by_index(nodes, "psychic_chunks_words")
    assert text
    assert max(node["Actual Rows"] for node in text) <= EACH * len(scopes)


@pytest.mark.parametrize("users", [None, ["alice"]], ids=["all users", "one user"])
async def test_words_come_from_their_index_before_statistics_know_the_scope(
    crowded: Connection, users: list[str] | None
) -> None:
    async with crowded.transaction():
        await crowded.execute(f"set local scrubjay.tenant = '{LATE}'")
        nodes = await plan_of(crowded, "which node failed?", ONE, users, LATE)
        every = await plan_of(crowded, "lesson", ONE, users, LATE)
    (text,) = _by_index(nodes, "psychic_chunks_words")
    assert text["Actual Rows"] == 0
    (text,) = _by_index(every, "psychic_chunks_words")
    assert text["Actual Rows"] == 3_000


async def test_users_are_looked_up_until_there_are_enough(crowded: Connection) -> None:
    nodes = await plan_of(crowded, "why does the gateway answer slowly?", ONE, ["alice"])
    looked_up = [
        node
        for node in nodes
        if node.get("Alias", "").startswith("u") and "psychic_cache" in node.get("Relation Name", "")
    ]
    assert len(looked_up) == 2
    for node in looked_up:
        assert node["Node Type"] == "Index Scan"
        assert node["Actual Loops"] == 100


async def test_the_plan_sees_a_table_that_is_read_whole(crowded: Connection) -> None:
    """The control: without the index the same reader finds the sequential scan."""
    async with crowded.transaction():
        for path in ("bitmapscan", "indexscan", "indexonlyscan"):
            await crowded.execute(f"set local enable_{path} = off")
        # It reads whole tables over and over, which a busy machine may not do in a service's time.
        await crowded.execute("set local statement_timeout = 0")
        nodes = await plan_of(crowded, "why does the gateway answer slowly?", ONE)
    assert [node for node in nodes if node["Node Type"] == "Seq Scan"]
