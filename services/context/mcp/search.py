"""The search over everything that is remembered: an assembly that is not logged, cut to its best items. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from services.context.mcp.schemas import Json
from shared.errors import Invalid
from shared.render import first_items

LIMIT = "limit"
_DEFAULT, _MOST = 8, 50
LIMIT_SCHEMA: Json = {
    "type": "integer",
    "maximum": _MOST,
    "default": _DEFAULT,
    "description": "Items at most, besides facts.",
}


def split(arguments: Mapping[str, Any]) -> tuple[dict[str, Any], int]:
    """The arguments of the assembly, and the limit. Raises Invalid."""
    limit = arguments.get(LIMIT)
    if limit is None:
        limit = _DEFAULT
    if type(limit) is not int or not 1 <= limit <= _MOST:
        raise Invalid.field(LIMIT, f"must be a whole number from 1 to {_MOST}")
    given = {name: value for name, value in arguments.items() if name != LIMIT}
    # The limit says how many items are wanted, however near the best.
    return {**given, "fill": True, "log": False}, limit


def best(assembly: Json, limit: int) -> Json:
    """The assembly with its first items only: they stand by order of worth. The facts before them stay."""
    return {
        **assembly,
        "sources": assembly["sources"][:limit],
        "context_block": first_items(assembly["context_block"], len(assembly["graph"]) + limit),
    }
