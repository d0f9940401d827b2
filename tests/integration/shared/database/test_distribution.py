"""The rules that let statements run where tables are distributed by tenant: each finds what it is there for."""

from __future__ import annotations

import asyncpg
import pytest
from sqlalchemy import Column, ForeignKey, Index, MetaData, Table, Text, UniqueConstraint

import local.database
from tools.distribution.collected import EVERY
from tools.distribution.exceptions import Exempt
from tools.distribution.functions import functions, read
from tools.distribution.page import PAGE, rendered
from tools.distribution.report import Class, Entry, entries, problems
from tools.distribution.rules import Checked, Code, Schema, Violation, check, check_function
from tools.distribution.syntax import called, parse
from tools.distribution.tables import columns, keys_without_tenant
from tools.distribution.volatility import STABLE, VOLATILE

SCHEMA = Schema(columns(), {"timeline.was_erased"})
ENTRIES = "cache.psychic_cache"


def checked(sql: str, *variables: str) -> Checked:
    return check(Code(sql, frozenset(variables)), SCHEMA)


PLANTED = {
    "no tenant": ("tenant", "select content from cache.psychic_cache where id = $1"),
    "a tenant or any": (
        "tenant",
        "select content from cache.psychic_cache where tenant = $1 or $1::text is null",
    ),
    "one of several tenants": ("tenant", "select content from cache.psychic_cache where tenant = any($1)"),
    "another tenant": ("tenant", "select content from cache.psychic_cache where tenant <> $1"),
    "a joined table without its tenant": (
        "tenant",
        "select m.tokens from cache.psychic_cache e join cache.missions m on m.mission_id = e.mission_id"
        " where e.tenant = $1",
    ),
    "a query inside without its tenant": (
        "tenant",
        "select 1 from cache.missions m where m.tenant = $1 and exists ("
        " select from cache.psychic_cache e where e.mission_id = m.mission_id)",
    ),
    "a query of a WITH clause without its tenant": (
        "tenant",
        "with e as (select tenant, mission_id from cache.psychic_cache where id = $2)"
        " select m.tokens from cache.missions m join e on e.mission_id = m.mission_id where m.tenant = $1",
    ),
    "the tenants of rows that a caller sent": (
        "tenant",
        "update cache.psychic_cache e set content = g.content"
        " from unnest($1::text[], $2::bigint[], $3::text[]) g(tenant, id, content)"
        " where e.tenant = g.tenant and e.id = g.id",
    ),
    "a union with one half of any tenant": (
        "tenant",
        "select tokens from cache.missions where tenant = $1 union all select tokens from cache.missions",
    ),
    "rows written for the tenants of a batch": (
        "tenant",
        "insert into cache.missions (tenant, mission_id)"
        " select tenant, mission_id from jsonb_to_recordset($1) as g(tenant text, mission_id text)",
    ),
    "locks on rows of all tenants": (
        "lock",
        "select id from cache.agent_dispatch where closed_at is null for update skip locked",
    ),
    "a locked query that feeds a change": (
        "locked query",
        "with d as (select id from cache.agent_dispatch where tenant = $1 order by id for update)"
        " delete from cache.agent_dispatch x using d where x.tenant = $1 and x.id = d.id",
    ),
    "a volatile function in an update": (
        "volatile",
        "update cache.missions set last_write_at = clock_timestamp() where tenant = $1",
    ),
    "a volatile function in a delete": (
        "volatile",
        "delete from cache.psychic_cache where tenant = $1 and expires_at < clock_timestamp()",
    ),
    "a volatile function of the schema in a delete": (
        "volatile",
        "delete from cache.psychic_cache where tenant = $1 and timeline.was_erased($1, tags, 0)",
    ),
    "a stable function in RETURNING": (
        "volatile",
        "update cache.missions set tokens = 0 where tenant = $1 returning now() - created_at",
    ),
    "an interval that depends on a column": (
        "stable",
        "update cache.index_queue set due_at = now() + attempts * interval '1 second' where tenant = $1",
    ),
    "a stable function of a column": (
        "stable",
        "update cache.psychic_cache set content = to_char(created_at, 'YYYY') where tenant = $1",
    ),
    "the time in DO UPDATE": (
        "conflict",
        "insert into cache.missions (tenant, mission_id) values ($1, $2)"
        " on conflict (tenant, mission_id) do update set last_write_at = now()",
    ),
    "a conflict without the tenant": (
        "conflict",
        "insert into cache.embedding_cache (tenant, key) values ($1, $2) on conflict (key) do nothing",
    ),
    "a query about the updated row of any tenant": (
        "correlated",
        "update cache.missions m set tokens = ("
        " select sum(e.token_count) from cache.psychic_cache e where e.mission_id = m.mission_id)",
    ),
    "a row that changes its tenant": ("move", "update cache.missions set tenant = '' where tenant = $1"),
}


@pytest.mark.parametrize(("rule", "sql"), PLANTED.values(), ids=PLANTED)
def test_a_planted_statement_is_found(rule: str, sql: str) -> None:
    assert rule in {violation.rule for violation in checked(sql).violations}


RIGHT = {
    "a tenant beside other conditions": (
        "select content from cache.psychic_cache e where (e.id = $2 or e.id = $3) and $1 = e.tenant"
    ),
    "a tenant through a join": (
        "select m.tokens from cache.psychic_cache e"
        " left join cache.missions m on m.tenant = e.tenant and m.mission_id = e.mission_id where e.tenant = $1"
    ),
    "a tenant through USING": (
        "select m.tokens from cache.psychic_cache e join cache.missions m using (tenant, mission_id)"
        " where m.tenant = $1"
    ),
    "a tenant through rows that were written": (
        "with m as (insert into cache.missions (tenant, mission_id) values ($1, $2) returning *)"
        " insert into timeline.events (tenant, scope, kind) select tenant, scope, 'created' from m"
    ),
    "a tenant through a list of keys": (
        "with e as (select tenant, mission_id from cache.psychic_cache where tenant = $1 and id = any($2))"
        " select tokens from cache.missions m where (m.tenant, m.mission_id) in (select tenant, mission_id from e)"
    ),
    "both halves of a union": (
        "with t as (select tenant from cache.missions where tenant = $1"
        " union select tenant from cache.psychic_cache where tenant = $1)"
        " select tokens from cache.missions m join t on t.tenant = m.tenant"
    ),
    "a time that the statement knows": (
        "update cache.missions set last_write_at = statement_timestamp() + $2 * interval '1 second' where tenant = $1"
    ),
    "what the row would have been": (
        "insert into cache.missions (tenant, mission_id) values ($1, $2)"
        " on conflict (tenant, mission_id) do update set last_write_at = excluded.last_write_at"
    ),
    "a lock in a statement of its own": (
        "select id from cache.agent_dispatch where tenant = $1 order by id for update"
    ),
}


@pytest.mark.parametrize("sql", RIGHT.values(), ids=RIGHT)
def test_a_statement_of_one_tenant_breaks_no_rule(sql: str) -> None:
    found = checked(sql)
    assert found.violations == []
    assert found.tables
    assert not found.several


def test_variables_of_a_function_are_values() -> None:
    sql = "select content from cache.psychic_cache c where c.tenant = p_tenant and c.id = e.entry_id"
    assert checked(sql, "p_tenant", "e").violations == []
    assert checked(sql).violations == [Violation("tenant", ENTRIES)]


def test_plans_and_statements_put_together_in_functions_are_found() -> None:
    function = read("""
        create function cache.drop_all(p_tenant text) returns void
        language plpgsql set plan_cache_mode = force_generic_plan as $$
        declare
            m cache.missions;
        begin
            select * into m from cache.missions where tenant = p_tenant;
            if m.tokens > (select count(*) from cache.psychic_cache) then
                execute format('delete from %I', m.scope);
            end if;
        end $$""")
    assert {violation.rule for violation in check_function(function)} == {"plan", "dynamic"}
    found = [checked(statement, *function.variables) for statement in function.statements]
    assert [result.violations for result in found if result.violations] == [[Violation("tenant", ENTRIES)]]


@pytest.mark.parametrize(
    ("wrong", "table"),
    [
        ("a key without the tenant", ("t", [Column("tenant", Text), Column("id", Text, primary_key=True)])),
        (
            "a key without the tenant",
            ("t", [Column("tenant", Text), Column("id", Text), UniqueConstraint("id")]),
        ),
        (
            "a unique index without the tenant",
            ("t", [Column("tenant", Text), Column("id", Text), Index("i", "id", unique=True)]),
        ),
        (
            "a foreign key without the tenant",
            ("t", [Column("tenant", Text), Column("id", Text, ForeignKey("s.other.id"))]),
        ),
        (
            "a foreign key to s.local, which is not distributed",
            ("t", [Column("tenant", Text, ForeignKey("s.local.id"))]),
        ),
    ],
)
def test_a_planted_key_is_found(wrong: str, table: tuple[str, list[Column[str]]]) -> None:
    described = MetaData()
    Table("other", described, Column("tenant", Text, primary_key=True), Column("id", Text), schema="s")
    Table("local", described, Column("id", Text, primary_key=True), schema="s")
    Table(table[0], described, *table[1], schema="s")
    assert wrong in [found for _, found in keys_without_tenant(described)]


def test_an_exemption_holds_for_its_rules_and_as_long_as_it_is_needed() -> None:
    entry = Entry("a:B", "a", violations={Violation("tenant", "t"): None, Violation("lock", "t"): None})
    exempt = {
        "a:B": Exempt(frozenset({"tenant", "stable"}), "a reason"),
        "a:C": Exempt(frozenset({"move"}), ""),
    }
    assert [*problems([entry], {"k": "a key without the tenant"}, exempt, {"l": ""})] == [
        "k: key: a key without the tenant",
        "l: exempt for nothing",
        "a:B: lock: t",
        "a:B: exempt from 'stable' for nothing",
        "a:C: exempt from 'move' for nothing",
    ]


def test_every_statement_stands_on_the_page() -> None:
    found = entries()
    assert [*problems(found)] == []
    assert PAGE.read_text() == rendered(found)
    reaches = {entry.name: entry.reaches for entry in found}
    assert len(reaches) == len(found) > 150
    assert reaches["cache.put_entries"] == Class.ONE_TENANT
    # Its tables stand at the beginnings of lines.
    assert reaches["memory.find_repeats"] == Class.ONE_TENANT
    assert reaches["services/cache/entries/queries_write.py:PUT_ENTRIES"] == Class.ONE_TENANT
    assert reaches["services/context/timeline/queries.py:NUMBER_EVENTS"] == Class.ONE_TENANT
    assert reaches["services/context/timeline/queries.py:TENANTS_WAITING"] == Class.BACKGROUND
    assert reaches["services/context/timeline/queries.py:MAINTAIN"] == Class.BACKGROUND
    assert reaches["QueueStatements:claim"] == Class.BACKGROUND


async def test_the_catalog_agrees_on_which_functions_are_volatile(database: local.database.Database) -> None:
    of_schema = functions()
    used = {name for statement in EVERY for name, _ in called(parse(statement.sql))}
    used |= {name for f in of_schema.values() for text in f.statements for name, _ in called(parse(text))}
    connection = await asyncpg.connect(database.owner)
    try:
        rows = await connection.fetch(
            "select proname as name, array_agg(distinct provolatile::text) as kinds from pg_proc"
            " where pronamespace = 'pg_catalog'::regnamespace and proname = any($1) group by proname",
            sorted(used | VOLATILE | STABLE),
        )
        own = await connection.fetch(
            "select pronamespace::regnamespace || '.' || proname as name, provolatile::text as kind from pg_proc"
            " where pronamespace::regnamespace::text = any($1)",
            ["cache", "sessions", "memory", "context", "timeline"],
        )
    finally:
        await connection.close()
    kinds = {row["name"]: set(row["kinds"]) for row in rows}
    assert {name for name in VOLATILE | used if kinds.get(name) == {"v"}} == VOLATILE
    # Functions such as to_tsvector are stable in one form, and immutable in the one that names a configuration.
    assert {name for name in STABLE | used if kinds.get(name) == {"s"}} == STABLE
    assert {row["name"]: row["kind"] for row in own} == {
        name: function.volatility[0] for name, function in of_schema.items()
    }
