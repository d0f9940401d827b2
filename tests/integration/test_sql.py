"""Every SQL statement of the services is prepared, and planned as its service's role, on the migrated schema."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import asyncpg
import pytest

import local.database
from local.database import ROOT
from shared.embedding_table import EmbeddingTable
from shared.idempotency import Records
from shared.indexer import IndexStatements
from shared.postgres import Database

_SQL = re.compile(
    r"\s*(select\s|insert into\s|update\s+\S+\s|delete from\s|with\s+\S+\s+as\s|merge\s|truncate\s)"
)
_TEMPLATES = {("shared/search/sql.py", "_SEARCH")}
_ROLES = {"services/cache": "cache", "services/agent_memory": "agent_memory", "services/context": "context"}
_SCHEMAS = {"cache": "cache", "memory": "agent_memory", "context": "context"}
# Classes that make their statements for one owner's schema.
_MAKERS: dict[str, Callable[[str], Any]] = {
    "Records": Records,
    "EmbeddingTable": lambda schema: EmbeddingTable(Database("postgresql://"), schema),
    "IndexStatements": lambda schema: IndexStatements(schema=schema, items="i", chunks="c", vectors="v"),
}
FILES = sorted(path for top in ("services", "shared") for path in (ROOT / top).rglob("*.py"))


class Statement(NamedTuple):
    name: str
    role: str
    sql: str


def literals(node: ast.AST) -> Iterator[ast.expr]:
    """String literals below `node` that begin like a statement."""
    if isinstance(node, ast.Constant | ast.JoinedStr):
        if _SQL.match(_text(node)):
            yield node
    else:
        for child in ast.iter_child_nodes(node):
            yield from literals(child)


def _text(node: ast.Constant | ast.JoinedStr) -> str:
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    return "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in parts)


def constants(tree: ast.Module) -> Iterator[str]:
    """Names in capitals that the module assigns."""
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else []
        yield from (t.id for t in targets if isinstance(t, ast.Name) and t.id.isupper())


def statements_in(value: Any) -> Iterator[str]:
    if isinstance(value, str) and _SQL.match(value):
        yield value
    elif isinstance(value, tuple | list):
        for part in value:
            yield from statements_in(part)
    elif isinstance(value, dict):
        yield from statements_in(list(value.values()))


def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def place(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def role_of(path: Path) -> list[str]:
    return [role for folder, role in _ROLES.items() if place(path).startswith(folder)] or list(
        _ROLES.values()
    )


def module_statements() -> Iterator[Statement]:
    for path in FILES:
        if not list(literals(parsed(path))) and not path.name.startswith("queries"):
            continue
        module = importlib.import_module(place(path).removesuffix(".py").replace("/", "."))
        for name in constants(parsed(path)):
            if (place(path), name) in _TEMPLATES:
                continue
            for number, sql in enumerate(statements_in(getattr(module, name))):
                for role in role_of(path):
                    yield Statement(f"{place(path)}:{name}[{number}]", role, sql)


def made_statements() -> Iterator[Statement]:
    for schema, role in _SCHEMAS.items():
        for kind in ("Records", "EmbeddingTable"):
            yield from _made(f"{kind} of {schema}", role, _MAKERS[kind](schema))
    for path in FILES:
        for node in ast.walk(parsed(path)):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == "IndexStatements"
            ):
                named = {str(word.arg): ast.literal_eval(word.value) for word in node.keywords}
                (role,) = role_of(path)
                yield from _made(f"IndexStatements of {named['schema']}", role, IndexStatements(**named))


def _made(name: str, role: str, maker: object) -> Iterator[Statement]:
    for attribute, sql in vars(maker).items():
        for one in statements_in(sql):
            yield Statement(f"{name}:{attribute}", role, one)


EVERY = [*module_statements(), *made_statements()]


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
    for folder in _ROLES:
        assert any(name.startswith(f"{folder}/queries") for name in names)
    assert {name.split(":")[0] for name in names if name.startswith("IndexStatements")} == {
        "IndexStatements of cache",
        "IndexStatements of memory",
    }
    assert sum("/queries" in name and ":PURGE[" in name for name in names) > 6


def test_no_statement_stands_outside_of_a_constant() -> None:
    """A statement inside a function would never be prepared here."""
    for path in FILES:
        inside = {
            literal.lineno
            for top in parsed(path).body
            if isinstance(top, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            and top.name not in _MAKERS
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
                assert known or (place(path), target.id) in _TEMPLATES, name


@pytest.mark.parametrize("kind", _MAKERS)
def test_a_maker_keeps_each_of_its_statements(kind: str) -> None:
    made = list(_made(kind, "", _MAKERS[kind]("s")))
    bodies = [
        n for path in FILES for n in parsed(path).body if isinstance(n, ast.ClassDef) and n.name == kind
    ]
    assert len(bodies) == 1
    assert len(list(literals(bodies[0]))) == len(made) > 0


def test_the_collector_sees_what_it_should() -> None:
    source = (
        'A = "select 1 from t"\ndef f(): g(f"update {x} set y = 1"); h("with a as (select 1) select 2")\n'
    )
    assert [literal.lineno for literal in literals(ast.parse(source))] == [1, 2, 2]
    assert list(literals(ast.parse('"Select what fits."\nx = "selected"; y = "with care"'))) == []
