"""The functions of the schema, each in its newest version, and the statements in them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from shared.database.schema import FUNCTIONS
from tools.distribution.syntax import Tree, names, nodes, parse, parse_body

_VERSION = re.compile(r"(?P<name>.+)_v(?P<number>\d+)$")
# Outside of the catalog, the parser of plpgsql knows no type of a table's rows.
_ROW_TYPE = re.compile(
    r"(^\s+(?!from\b|join\b|update\b)\w+|\breturns) (?:cache|memory|context|timeline)\.\w+", re.MULTILINE
)
# Nor the types of an extension.
_EXTENSIONS_TYPE = re.compile(r"\bhalfvec\b")
_ASSIGNED = re.compile(r"^[\w.\[\]]+\s*:=")
_STATEMENT, _ASSIGNMENT = 0, 3


@dataclass(frozen=True)
class Function:
    name: str
    """With its schema."""
    statements: tuple[str, ...]
    variables: frozenset[str]
    """Its parameters and what it declares."""
    volatility: str
    settings: frozenset[str]
    is_dynamic: bool
    """Whether it puts statements together."""


def functions(folder: Path = FUNCTIONS) -> dict[str, Function]:
    found = {_numbered(path): path for path in folder.glob("*.sql")}
    newest = dict(sorted((name, number) for name, number in found))
    return {name: read(found[name, number].read_text()) for name, number in newest.items()}


def _numbered(path: Path) -> tuple[str, int]:
    match = _VERSION.match(path.stem)
    assert match, f"{path.name}: the name of a function's file ends with its version"
    return match["name"], int(match["number"])


def read(text: str) -> Function:
    tree = parse(text)["create_function_stmt"]
    options = [node["def_elem"] for node in tree["options"]]
    words = {option["defname"]: option["arg"].get("string", {}).get("sval", "") for option in options}
    parameters = {node["function_parameter"].get("name", "") for node in tree.get("parameters", [])}
    known = _EXTENSIONS_TYPE.sub("text", _ROW_TYPE.sub(r"\1 record", text))
    body = parse_body(known) if words["language"] == "plpgsql" else []
    (source,) = (
        option["arg"]["list"]["items"][0]["string"]["sval"] for option in options if option["defname"] == "as"
    )
    return Function(
        name=".".join(names(tree["funcname"])),
        statements=tuple(_statements(body) if body else [source]),
        variables=frozenset(parameters | _declared(body)),
        volatility=words.get("volatility", "volatile"),
        settings=frozenset(setting["name"] for setting in nodes(options, "variable_set_stmt")),
        is_dynamic=any(True for _ in nodes(body, "PLpgSQL_stmt_dynexecute")),
    )


def _declared(body: list[Tree]) -> set[str]:
    kinds = ("PLpgSQL_var", "PLpgSQL_rec")
    return {variable["refname"] for kind in kinds for variable in nodes(body, kind)}


def _statements(body: list[Tree]) -> Iterator[str]:
    """The statements, and the expressions as statements that select them."""
    for expression in nodes(body, "PLpgSQL_expr"):
        text, mode = expression["query"], expression.get("parseMode", _STATEMENT)
        if mode == _STATEMENT:
            yield text
        else:
            yield "select " + (_ASSIGNED.sub("", text) if mode == _ASSIGNMENT else text)
