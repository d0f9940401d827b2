"""The tables and queries that names in a statement refer to.

A key stands for a value: a column of a source (`3.tenant`), or a value that is known before the statement runs
(`= $1`). Equal keys are equal values.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field

from tools.distribution.syntax import Tree, names, nodes

KNOWN = "= "


class Outputs(dict[str, str | None]):
    """The columns that a query answers, in order, and the key of each. None: no key."""


@dataclass
class Source:
    """What a name stands for in one query: a table, or the outputs of a query or a function."""

    number: int
    table: str | None = None
    outputs: Outputs | None = None
    columns: set[str] | None = None
    """None: not known, so a column of any name may be there."""

    def has(self, column: str) -> bool:
        if self.outputs is not None:
            return column in self.outputs
        return self.columns is None or column in self.columns

    def key(self, column: str) -> str | None:
        return f"{self.number}.{column}" if self.outputs is None else self.outputs.get(column)


@dataclass
class Scope:
    """The sources of one query, and those of the queries around it."""

    outer: Scope | None = None
    variables: frozenset[str] = frozenset()
    """Variables of the function that the statement stands in."""
    sources: dict[str, Source] = field(default_factory=dict)
    queries: dict[str, Outputs] = field(default_factory=dict)
    """The queries of its WITH clause."""

    def inner(self) -> Scope:
        return Scope(self, self.variables)

    def query(self, name: str) -> Outputs | None:
        found = self.queries.get(name)
        return found if found is not None or self.outer is None else self.outer.query(name)

    def find(self, name: str) -> tuple[Source, Scope] | None:
        if name in self.sources:
            return self.sources[name], self
        return self.outer.find(name) if self.outer else None

    def having(self, column: str) -> tuple[Source, Scope] | None:
        """The source of a column that is named without one: a known column before an unknown one."""
        found = [source for source in self.sources.values() if source.has(column)]
        found.sort(key=lambda source: source.outputs is None and source.columns is None)
        if found:
            return found[0], self
        return self.outer.having(column) if self.outer else None

    def source(self, column: Tree) -> tuple[Source, Scope] | None:
        """The source that a reference to a column means, and the query that it stands in."""
        parts = names(column["fields"])
        if len(parts) > 1:
            return self.find(parts[-2])
        return None if parts[0] in self.variables or parts[0] == "*" else self.having(parts[0])

    def key(self, expression: Tree) -> str | None:
        """The key of an expression, where it is a column or does not depend on any row."""
        while "type_cast" in expression:
            expression = expression["type_cast"]["arg"]
        if "column_ref" in expression and (found := self.source(expression["column_ref"])):
            return found[0].key(names(expression["column_ref"]["fields"])[-1])
        return KNOWN + _text(expression) if self.is_known(expression) else None

    def is_known(self, expression: Tree) -> bool:
        """Whether an expression holds neither a column of a source nor a query."""
        if any(True for _ in nodes(expression, "sub_link")):
            return False
        return all(self._is_variable(column) for column in nodes(expression, "column_ref"))

    def _is_variable(self, column: Tree) -> bool:
        return self.source(column) is None and names(column["fields"])[0] in self.variables

    def stars(self, column: Tree) -> Iterator[tuple[str, str | None]]:
        """The columns of `*` or `source.*`, as far as they are known."""
        parts = names(column["fields"])
        found = self.find(parts[0]) if len(parts) > 1 else None
        for source in [found[0]] if found else list(self.sources.values()):
            known = source.outputs if source.outputs is not None else sorted(source.columns or ())
            yield from ((name, source.key(name)) for name in known)


def _text(expression: Tree) -> str:
    """Equal for equal expressions, wherever they stand."""
    return json.dumps(_without_places(expression), sort_keys=True)


def _without_places(value: object) -> object:
    if isinstance(value, dict):
        return {name: _without_places(part) for name, part in value.items() if name != "location"}
    return [_without_places(part) for part in value] if isinstance(value, list) else value
