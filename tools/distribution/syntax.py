"""Statements as trees of dicts, made by PostgreSQL's own parser.

A node is a dict with one key, its kind: `{"range_var": {"relname": ...}}`. Some fields hold the inner dict alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias

import postgast
from google.protobuf.json_format import MessageToDict

Tree: TypeAlias = dict[str, Any]
CHANGES = ("insert_stmt", "update_stmt", "delete_stmt")


def parse(sql: str) -> Tree:
    """The tree of one statement."""
    (statement,) = MessageToDict(postgast.parse(sql), preserving_proto_field_name=True)["stmts"]
    tree: Tree = statement["stmt"]
    return tree


def parse_body(function: str) -> list[Tree]:
    """The tree of a plpgsql function. Its statements are texts."""
    trees: list[Tree] = postgast.parse_plpgsql(function)
    return trees


def nodes(tree: object, kind: str, until: Callable[[str], bool] = lambda _: False) -> Iterator[Tree]:
    """The nodes of a kind in a tree, outer ones first. Nothing below a kind that `until` names is looked at."""
    if isinstance(tree, list):
        for part in tree:
            yield from nodes(part, kind, until)
    elif isinstance(tree, dict):
        for name, value in tree.items():
            if name == kind and isinstance(value, dict):
                yield value
            if not until(name):
                yield from nodes(value, kind, until)


def names(parts: list[Tree]) -> list[str]:
    """The parts of a dotted name. `*` is one of them."""
    return [part["string"].get("sval", "") if "string" in part else "*" for part in parts]


def called(tree: object) -> Iterator[tuple[str, Tree]]:
    """The functions that a tree calls, with their schema where it is named."""
    for call in nodes(tree, "func_call"):
        yield ".".join(part for part in names(call["funcname"]) if part != "pg_catalog"), call


def table_name(relation: Tree) -> str:
    schema = relation.get("schemaname")
    return f"{schema}.{relation['relname']}" if schema else str(relation["relname"])
