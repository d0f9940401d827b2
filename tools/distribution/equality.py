"""Which rows of tenants' tables a statement reaches: those of one tenant that it names, or those of several."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from shared.database.distribution import TENANT
from tools.distribution.scopes import KNOWN, Outputs, Scope, Source
from tools.distribution.syntax import Tree, names, nodes, table_name

_QUERIES = ("select_stmt", "insert_stmt", "update_stmt", "delete_stmt")
_SAME = {"AEXPR_OP": "=", "AEXPR_NOT_DISTINCT": "="}


@dataclass
class Equalities:
    """Which keys are equal, as a forest; and which are one of several values."""

    parents: dict[str, str] = field(default_factory=dict)
    choices: dict[str, list[str | None]] = field(default_factory=dict)

    def add(self, left: str | None, right: str | None) -> None:
        if left is not None and right is not None:
            one, other = self.root(left), self.root(right)
            # A known value stays on top.
            if one.startswith(KNOWN):
                one, other = other, one
            if one != other:
                self.parents[one] = other

    def root(self, key: str) -> str:
        while key in self.parents:
            key = self.parents[key]
        return key

    def is_known(self, key: str | None) -> bool:
        if key is None:
            return False
        root = self.root(key)
        if root.startswith(KNOWN):
            return True
        return any(
            all(self.is_known(value) for value in values if value != choice)
            for choice, values in self.choices.items()
            if self.root(choice) == root
        )


@dataclass(frozen=True)
class Use:
    """One mention of a tenants' table in a statement."""

    table: str
    key: str | None
    locks: bool


@dataclass
class Reach:
    """What a statement reaches. `columns` holds the columns of the tenants' tables."""

    columns: Mapping[str, set[str]]
    equalities: Equalities = field(default_factory=Equalities)
    uses: list[Use] = field(default_factory=list)
    correlated: list[str] = field(default_factory=list)
    """Columns of an update's own rows in queries inside it."""
    _number: int = 0
    _answers: dict[int, Outputs] = field(default_factory=dict)
    """The outputs of queries inside expressions, by the node's identity."""

    def tables_of_several(self) -> list[Use]:
        return [use for use in self.uses if not self.equalities.is_known(use.key)]

    def query(self, tree: Tree, scope: Scope) -> Outputs:
        for kind in _QUERIES:
            if kind in tree:
                outputs: Outputs = getattr(self, f"_{kind.removesuffix('_stmt')}")(tree[kind], scope.inner())
                return outputs
        return Outputs()

    def _with(self, tree: Tree, scope: Scope) -> None:
        clause = tree.get("with_clause", {})
        for node in clause.get("ctes", []):
            part = node["common_table_expr"]
            if clause.get("recursive"):
                first = part["ctequery"]["select_stmt"].get("larg", part["ctequery"]["select_stmt"])
                scope.queries[part["ctename"]] = self._columns(
                    Reach(self.columns)._select(first, scope.inner())
                )
            scope.queries[part["ctename"]] = self.query(part["ctequery"], scope)

    def _columns(self, outputs: Outputs) -> Outputs:
        """The same columns with keys of their own: the rows of a recursive query differ from its first ones."""
        number = self._next()
        return Outputs({name: f"{number}.{name}" for name in outputs})

    def _select(self, tree: Tree, scope: Scope) -> Outputs:
        self._with(tree, scope)
        if "larg" in tree:
            return self._both(
                self._select(tree["larg"], scope.inner()), self._select(tree["rarg"], scope.inner())
            )
        before = len(self.uses)
        for item in tree.get("from_clause", []):
            self._from(item, scope)
        self._expressions(tree, scope)
        self._where(tree.get("where_clause"), scope)
        if "locking_clause" in tree:
            self.uses[before:] = [Use(use.table, use.key, locks=True) for use in self.uses[before:]]
        if "values_lists" in tree:
            return self._values(tree["values_lists"], scope)
        return self._targets(tree.get("target_list", []), scope)

    def _both(self, left: Outputs, right: Outputs) -> Outputs:
        """A union's columns: each holds the values of both sides."""
        return Outputs(
            {
                name: self._choice([one, other])
                for (name, one), other in zip(left.items(), right.values(), strict=False)
            }
        )

    def _choice(self, keys: list[str | None]) -> str | None:
        if len(keys) == 1:
            return keys[0]
        choice = f"{self._next()}.choice"
        self.equalities.choices[choice] = keys
        return choice

    def _values(self, rows: list[Tree], scope: Scope) -> Outputs:
        columns = zip(*(row["list"]["items"] for row in rows), strict=True)
        return Outputs(
            {
                f"column{place}": self._choice([scope.key(value) for value in values])
                for place, values in enumerate(columns, 1)
            }
        )

    def _targets(self, targets: list[Tree], scope: Scope) -> Outputs:
        outputs = Outputs()
        for place, target in enumerate(node["res_target"] for node in targets):
            value = target.get("val", {})
            if "column_ref" in value and names(value["column_ref"]["fields"])[-1] == "*":
                outputs.update(scope.stars(value["column_ref"]))
            else:
                name = target.get("name") or _name(value)
                outputs[name if name and name not in outputs else f"?{place}"] = scope.key(value)
        return outputs

    def _insert(self, tree: Tree, scope: Scope) -> Outputs:
        self._with(tree, scope)
        rows = self.query(tree["select_stmt"], scope) if "select_stmt" in tree else Outputs()
        target = self._table(tree["relation"], scope)
        columns = [node["res_target"]["name"] for node in tree.get("cols", [])]
        for column, key in zip(columns, rows.values(), strict=False):
            if column == TENANT:
                self.equalities.add(target.key(TENANT), key)
        self._expressions(tree.get("on_conflict_clause", {}), scope)
        return self._targets(tree.get("returning_clause", {}).get("exprs", []), scope)

    def _update(self, tree: Tree, scope: Scope) -> Outputs:
        outputs = self._change(tree, scope, tree.get("from_clause", []))
        self._correlations(tree, scope)
        return outputs

    def _delete(self, tree: Tree, scope: Scope) -> Outputs:
        return self._change(tree, scope, tree.get("using_clause", []))

    def _change(self, tree: Tree, scope: Scope, others: list[Tree]) -> Outputs:
        self._with(tree, scope)
        self._table(tree["relation"], scope)
        for item in others:
            self._from(item, scope)
        self._expressions(tree, scope)
        self._where(tree.get("where_clause"), scope)
        return self._targets(tree.get("returning_clause", {}).get("exprs", []), scope)

    def _correlations(self, tree: Tree, scope: Scope) -> None:
        for link in nodes(tree.get("target_list", []), "sub_link"):
            own = [self.aliases(link)]
            for column in nodes(link, "column_ref"):
                parts = names(column["fields"])
                if len(parts) > 1 and parts[-2] in scope.sources and parts[-2] not in own[0]:
                    self.correlated.append(".".join(parts))

    @staticmethod
    def aliases(tree: Tree) -> set[str]:
        """The names of the sources inside a tree."""
        aliased = {alias["aliasname"] for alias in nodes(tree, "alias")}
        return aliased | {relation["relname"] for relation in nodes(tree, "range_var")}

    def _from(self, item: Tree, scope: Scope) -> None:
        if "range_var" in item:
            self._table(item["range_var"], scope)
        elif "range_subselect" in item:
            part = item["range_subselect"]
            self._add(
                part, Source(self._next(), outputs=_renamed(self.query(part["subquery"], scope), part)), scope
            )
        elif "range_function" in item:
            self._expressions(item, scope)
            self._add(
                item["range_function"], Source(self._next(), columns=_given(item["range_function"])), scope
            )
        elif "join_expr" in item:
            self._join(item["join_expr"], scope)

    def _join(self, join: Tree, scope: Scope) -> None:
        known = set(scope.sources)
        self._from(join["larg"], scope)
        left = [source for name, source in scope.sources.items() if name not in known]
        known = set(scope.sources)
        self._from(join["rarg"], scope)
        right = [source for name, source in scope.sources.items() if name not in known]
        for column in names(join.get("using_clause", [])):
            keys = [next((s.key(column) for s in side if s.has(column)), None) for side in (left, right)]
            self.equalities.add(*keys)
        self._expressions(join.get("quals", {}), scope)
        self._where(join.get("quals"), scope)

    def _table(self, relation: Tree, scope: Scope) -> Source:
        table = table_name(relation)
        query = scope.query(table)
        if query is not None:
            source = Source(self._next(), outputs=_renamed(query, relation))
        else:
            source = Source(self._next(), table, columns=self.columns.get(table))
        if table in self.columns:
            self.uses.append(Use(table, source.key(TENANT), locks=False))
        self._add(relation, source, scope)
        return source

    def _add(self, item: Tree, source: Source, scope: Scope) -> None:
        scope.sources[
            item.get("alias", {}).get("aliasname") or item.get("relname") or f"#{source.number}"
        ] = source

    def _next(self) -> int:
        self._number += 1
        return self._number

    def _expressions(self, tree: Tree, scope: Scope) -> None:
        """Follows the queries inside a query's own expressions."""
        for link in nodes(_own(tree), "sub_link", until=lambda kind: kind == "sub_link"):
            self._answers[id(link)] = self.query(link["subselect"], scope)
            self._expressions(link.get("testexpr", {}), scope)

    def _where(self, condition: Tree | None, scope: Scope) -> None:
        """Notes which keys are equal in every row for which a condition holds."""
        for left, right in self._equal(condition or {}, scope):
            self.equalities.add(left, right)

    def _equal(self, condition: Tree, scope: Scope) -> Iterator[tuple[str | None, str | None]]:
        if condition.get("bool_expr", {}).get("boolop") == "AND_EXPR":
            for part in condition["bool_expr"]["args"]:
                yield from self._equal(part, scope)
        elif (
            "a_expr" in condition
            and _SAME.get(condition["a_expr"]["kind"]) == names(condition["a_expr"]["name"])[0]
        ):
            sides = (_items(condition["a_expr"][side]) for side in ("lexpr", "rexpr"))
            yield from (
                (self._key(one, scope), self._key(other, scope)) for one, other in zip(*sides, strict=False)
            )
        elif condition.get("sub_link", {}).get("sub_link_type") == "ANY_SUBLINK":
            link = condition["sub_link"]
            tested = (scope.key(item) for item in _items(link["testexpr"]))
            yield from zip(tested, self._answers[id(link)].values(), strict=False)

    def _key(self, expression: Tree, scope: Scope) -> str | None:
        """Of `(select tenant from ...)`, the key of the column."""
        link = expression.get("sub_link", {})
        if link.get("sub_link_type") == "EXPR_SUBLINK":
            return next(iter(self._answers[id(link)].values()), None)
        return scope.key(expression)


def _own(tree: Tree) -> Tree:
    """A query without the parts that are followed by themselves."""
    others = {"with_clause", "from_clause", "using_clause", "larg", "rarg", "select_stmt"}
    return {name: part for name, part in tree.items() if name not in others}


def _items(expression: Tree) -> list[Tree]:
    return expression["row_expr"]["args"] if "row_expr" in expression else [expression]


def _name(value: Tree) -> str | None:
    if "column_ref" in value:
        return names(value["column_ref"]["fields"])[-1]
    return names(value["func_call"]["funcname"])[-1] if "func_call" in value else None


def _renamed(outputs: Outputs, item: Tree) -> Outputs:
    """The outputs under the names that an alias gives them: `(select ...) as t(tenant, id)`."""
    given = names(item.get("alias", {}).get("colnames", []))
    return Outputs(
        {
            (given[place] if place < len(given) else name): key
            for place, (name, key) in enumerate(outputs.items())
        }
    )


def _given(function: Tree) -> set[str] | None:
    """The columns that a function in FROM is given there."""
    defined = [*nodes(function, "column_def")]
    given = {column["colname"] for column in defined} | set(
        names(function.get("alias", {}).get("colnames", []))
    )
    return given or None


def reach(tree: Tree, columns: Mapping[str, set[str]], variables: frozenset[str] = frozenset()) -> Reach:
    found = Reach(columns)
    found.query(tree, Scope(variables=variables))
    return found
