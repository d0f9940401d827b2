"""What a statement must not do, so that it also runs where tables are distributed by tenant (Citus).

A statement that names the one tenant it reaches goes to one node. These rules hold what Citus refuses or answers
wrongly, as far as a syntax tree shows it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from shared.database.distribution import TENANT
from tools.distribution.equality import Reach, reach
from tools.distribution.functions import Function
from tools.distribution.syntax import CHANGES, Tree, nodes, parse, table_name
from tools.distribution.volatility import stable_calls, stable_on_columns, volatile_calls

RULES = {
    "key": "A primary, unique or foreign key of a tenant's table holds the tenant.",
    "tenant": "A statement compares the tenant of each tenants' table with a value that it is given.",
    "lock": "A statement locks rows of one tenant.",
    "locked query": "A query that locks rows feeds no insert, update or delete.",
    "volatile": "An update or a delete calls no volatile function; RETURNING calls immutable ones.",
    "stable": "An update or a delete computes with times and stable functions without columns.",
    "conflict": "ON CONFLICT names the tenant, and DO UPDATE calls immutable functions.",
    "correlated": "An update of several tenants holds no query that refers to the updated row.",
    "move": "No update changes the tenant of a row.",
    "plan": "A function sets no kind of plan.",
    "dynamic": "A function puts no statement together.",
}


class Violation(NamedTuple):
    rule: str
    what: str


@dataclass(frozen=True)
class Code:
    """A statement, and the variables of the function that it stands in."""

    sql: str
    variables: frozenset[str] = frozenset()


class Schema(NamedTuple):
    """What the rules know of the database."""

    columns: Mapping[str, set[str]]
    """Of the tenants' tables."""
    volatile: Collection[str]
    """The schema's own volatile functions."""


@dataclass(frozen=True)
class Checked:
    violations: list[Violation]
    tables: set[str]
    """The tenants' tables that it reaches."""
    several: bool
    """Whether it reaches rows of several tenants."""


def check(code: Code, schema: Schema) -> Checked:
    tree = parse(code.sql)
    found = reach(tree, schema.columns, code.variables)
    changes = [change for change in _changes(tree) if table_name(change["relation"]) in schema.columns]
    violations = [
        *_tenant(found),
        *(_locked(tree) if changes else ()),
        *(violation for change in changes for violation in _change(change, code, schema)),
        *(Violation("correlated", name) for name in found.correlated if found.tables_of_several()),
    ]
    tables = {use.table for use in found.uses}
    return Checked(list(dict.fromkeys(violations)), tables, several=bool(found.tables_of_several()))


def check_function(function: Function) -> Iterator[Violation]:
    """What the function's statements do not show."""
    if "plan_cache_mode" in function.settings:
        yield Violation("plan", "plan_cache_mode")
    if function.is_dynamic:
        yield Violation("dynamic", "execute")


def _changes(tree: Tree) -> list[Tree]:
    return [change for kind in CHANGES for change in nodes(tree, kind)]


def _tenant(found: Reach) -> Iterator[Violation]:
    for use in found.tables_of_several():
        yield Violation("lock" if use.locks else "tenant", use.table)


def _locked(tree: Tree) -> Iterator[Violation]:
    for query in nodes(tree, "select_stmt"):
        if "locking_clause" in query:
            yield Violation("locked query", ", ".join(map(table_name, nodes(query, "range_var"))))


def _change(change: Tree, code: Code, schema: Schema) -> Iterator[Violation]:
    """`with_clause` holds statements of their own, as does the query of an insert."""
    conflict = change.get("on_conflict_clause", {})
    own = {part: value for part, value in change.items() if part not in {"with_clause", "returning_clause"}}
    answered = change.get("returning_clause")
    if "cols" in change or "select_stmt" in change:
        yield from _conflict(conflict, schema)
    else:
        yield from (Violation("volatile", name) for name in volatile_calls(own, schema.volatile))
        yield from (Violation("stable", name) for name in stable_on_columns(own, code.variables))
        yield from (Violation("move", TENANT) for target in _assigned(change) if target == TENANT)
    for name in [*volatile_calls(answered, schema.volatile), *stable_calls(answered)]:
        yield Violation("volatile", f"{name} in RETURNING")


def _assigned(change: Tree) -> list[str]:
    return [target["res_target"].get("name", "") for target in change.get("target_list", [])]


def _conflict(conflict: Tree, schema: Schema) -> Iterator[Violation]:
    inferred = conflict.get("infer", {})
    elements = [element.get("name") for element in nodes(inferred, "index_elem")]
    if elements and TENANT not in elements:
        yield Violation("conflict", f"on conflict ({', '.join(map(str, elements))})")
    updates = conflict.get("target_list", [])
    for name in [*volatile_calls(updates, schema.volatile), *stable_calls(updates)]:
        yield Violation("conflict", name)
    yield from (Violation("conflict", name) for name in stable_on_columns(updates, ()))
