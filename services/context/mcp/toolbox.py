"""The tools as clients see them, bound to their routes. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal, NamedTuple

from services.context.mcp import search
from services.context.mcp.catalog import AREAS, SEARCH, TOOLS
from services.context.mcp.schemas import Json, Route, describe, raw_input
from services.context.mcp.tool import Tool

RAW = "_raw"


class Bound(NamedTuple):
    tool: Tool
    name: str
    description: str
    input: Json
    output: Json | None
    route: Route
    kind: Literal["flat", "raw", "search"]

    @property
    def sets(self) -> frozenset[str]:
        """The toolsets that contain the tool."""
        if self.kind == "raw":
            return frozenset({"raw"})
        area = {"full", AREAS[self.route.area]}
        return frozenset(area | {"default"} if self.tool.default else area)

    def annotations(self) -> dict[str, bool]:
        """Without those that the protocol takes for granted."""
        if self.route.access == "read":
            return {"readOnlyHint": True, "openWorldHint": False}
        repeatable = {"idempotentHint": True} if self.tool.idempotent else {}
        return {"destructiveHint": self.tool.destructive, **repeatable, "openWorldHint": False}


def toolbox(document: Json) -> dict[str, Bound]:
    """Every tool by its name, in the order of the catalog, the twins last."""
    every = [*(_bound(document, tool) for tool in TOOLS), *_twins(document)]
    return {bound.name: bound for bound in every}


def chosen(tools: Mapping[str, Bound], wanted: Iterable[str]) -> list[Bound]:
    names = frozenset(wanted)
    return [bound for bound in tools.values() if bound.sets & names]


def _bound(document: Json, tool: Tool) -> Bound:
    described = describe(document, tool)
    given = described.input
    if tool.name == SEARCH:
        given = {**given, "properties": {**given["properties"], search.LIMIT: search.LIMIT_SCHEMA}}
    kind: Literal["flat", "search"] = "search" if tool.name == SEARCH else "flat"
    return Bound(tool, tool.name, tool.description, given, described.output, described.route, kind)


def _twins(document: Json) -> Iterator[Bound]:
    for tool in TOOLS:
        given = None if tool.only else raw_input(document, tool)
        if given is None:
            continue
        described = describe(document, tool)
        text = f"{tool.name} with its fields in one `payload`, for clients that hold an older list of them."
        yield Bound(tool, tool.name + RAW, text, given, described.output, described.route, "raw")
