"""Every SQL statement of the services: the constants of modules, and what classes make for an owner's schema."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from shared.database.embedding_table import EmbeddingTable
from shared.database.idempotency import Records
from shared.database.index_queue import QueueStatements, StoreStatements
from shared.database.postgres import Database
from shared.database.tenancy import Look
from shared.review.reviews import Reviews

ROOT = Path(__file__).resolve().parents[2]
_SQL = re.compile(
    r"\s*(select\s|insert into\s|update\s+\S+\s|delete from\s|with\s+(recursive\s+)?\S+\s+as\s|merge\s|truncate\s)"
)
# Beginnings and parts of statements, and what only Citus can prepare.
TEMPLATES = {
    ("services/agent_memory/consolidation/purge.py", "_PURGE"),
    ("services/agent_memory/long_term/purge.py", "_PURGE"),
    ("services/cache/checkpoints/purge.py", "_PURGE"),
    ("services/cache/persistent/purge.py", "_PURGE"),
    ("services/cache/sessions/purge.py", "_LOCK"),
    ("services/cache/sessions/purge.py", "_PURGE"),
    ("services/agent_memory/long_term/queries_write.py", "_ADD_CHUNKS"),
    ("services/agent_memory/long_term/queries_write.py", "_BEFORE"),
    ("services/agent_memory/facts/queries.py", "_PAGE"),
    ("services/agent_memory/memories/queries_background.py", "_FEW"),
    ("services/agent_memory/review/queries_memories.py", "_LOOKED"),
    ("services/cache/entries/queries.py", "_ENTRY"),
    ("services/context/log/queries.py", "_LOG"),
    ("shared/database/index_queue.py", "_LOCKED"),
    ("shared/database/tenancy.py", "_ALONE"),
    ("shared/database/tenancy.py", "_OF_EVERY"),
    ("shared/search/hot/opening.py", "IS_DISTRIBUTED"),
}
ROLES = {"services/cache": "cache", "services/agent_memory": "agent_memory", "services/context": "context"}
_QUEUES = ("cache", "memory")
_SCHEMAS = {"cache": "cache", "memory": "agent_memory", "context": "context"}
# Classes that make their statements for one owner's schema.
MAKERS: dict[str, Callable[[str], Any]] = {
    "Records": Records,
    "Reviews": Reviews,
    "EmbeddingTable": lambda schema: EmbeddingTable(Database("postgresql://"), schema),
    "QueueStatements": QueueStatements,
    "StoreStatements": lambda schema: StoreStatements(schema=schema, items="i", chunks="c", vectors="v"),
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
    elif isinstance(value, Look):
        yield value.within
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
    return [role for folder, role in ROLES.items() if place(path).startswith(folder)] or list(ROLES.values())


def module_statements() -> Iterator[Statement]:
    for path in FILES:
        if not list(literals(parsed(path))) and not path.name.startswith("queries"):
            continue
        module = importlib.import_module(place(path).removesuffix(".py").replace("/", "."))
        for name in constants(parsed(path)):
            if (place(path), name) in TEMPLATES:
                continue
            for number, sql in enumerate(statements_in(getattr(module, name))):
                for role in role_of(path):
                    yield Statement(f"{place(path)}:{name}[{number}]", role, sql)


def made_statements() -> Iterator[Statement]:
    for schema, role in _SCHEMAS.items():
        for kind in ("Records", "EmbeddingTable"):
            yield from made(f"{kind} of {schema}", role, MAKERS[kind](schema))
    for schema in _QUEUES:
        yield from made(f"Reviews of {schema}", _SCHEMAS[schema], Reviews(schema))
        yield from made(f"QueueStatements of {schema}", _SCHEMAS[schema], QueueStatements(schema))
    for path in FILES:
        for node in ast.walk(parsed(path)):
            if (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Name)
                and node.func.id == "StoreStatements"
            ):
                named = {str(word.arg): ast.literal_eval(word.value) for word in node.keywords}
                (role,) = role_of(path)
                store = f"{named['schema']}.{named['items']}"
                yield from made(f"StoreStatements of {store}", role, StoreStatements(**named))


def made(name: str, role: str, maker: object) -> Iterator[Statement]:
    for attribute, sql in vars(maker).items():
        for statement in statements_in(sql):
            yield Statement(f"{name}:{attribute}", role, statement)


EVERY = [*module_statements(), *made_statements()]
