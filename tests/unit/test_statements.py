"""A rule for SQL that linters do not know: where statements come from. `tools/distribution` holds the others."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

import pytest

from local.database import ROOT

RUNS = {"fetch", "fetchrow", "fetchval", "execute", "executemany", "cursor", "prepare"}
_SQL = re.compile(r"\s*(select|insert|update|delete|with|alter|create|drop|set)\s", re.IGNORECASE)
# Functions that put a statement together from names that the code gives, once and at the start.
MADE_AT_START = {
    "shared/database/embedding_table.py": "the schema of the service",
    "shared/database/idempotency.py": "the schema of the service",
    "shared/database/index_queue.py": "the tables of a store",
    "shared/database/postgres.py": "the tenant of a transaction, quoted",
    "shared/review/reviews.py": "the schema of the service",
}


def modules() -> Iterator[tuple[str, ast.Module]]:
    for folder in ("services", "shared"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            yield str(path.relative_to(ROOT)), ast.parse(path.read_text())


def made(node: ast.AST) -> bool:
    """Whether an expression puts a text together when it runs."""
    return isinstance(node, ast.JoinedStr | ast.BinOp | ast.Call)


def built_for_a_connection(tree: ast.Module) -> Iterator[int]:
    """Lines that hand a connection a text which they put together."""
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        nodes = [*ast.walk(function)]
        local = {
            target.id
            for node in nodes
            if isinstance(node, ast.Assign) and made(node.value)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in nodes:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in RUNS:
                first = node.args[0] if node.args else None
                if first is not None and (made(first) or (isinstance(first, ast.Name) and first.id in local)):
                    yield node.lineno


def sql_in_functions(tree: ast.Module) -> Iterator[int]:
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            for node in ast.walk(function):
                if isinstance(node, ast.JoinedStr) and _SQL.match(str(getattr(node.values[0], "value", ""))):
                    yield node.lineno


def test_no_statement_is_put_together_for_a_connection() -> None:
    found = [f"{path}:{line}" for path, tree in modules() for line in built_for_a_connection(tree)]
    assert found == []


def test_statements_are_made_only_at_the_start() -> None:
    found = {path for path, tree in modules() if any(sql_in_functions(tree))}
    assert found == MADE_AT_START.keys()


@pytest.mark.parametrize(
    "code",
    [
        "async def f(c, x): await c.fetch(f'select {x}')",
        "async def f(c, x): await c.execute('select ' + x)",
        "async def f(c, x): await c.fetchval('select %s' % x)",
        "async def f(c, x): await c.fetchrow('select {}'.format(x))",
        "async def f(c, x):\n    text = f'select {x}'\n    await c.fetch(text)",
    ],
)
def test_a_statement_of_caller_text_would_be_found(code: str) -> None:
    assert [*built_for_a_connection(ast.parse(code))]
