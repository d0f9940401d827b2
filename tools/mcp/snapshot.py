"""The published list of MCP tools. Clients cache it for a day, so tools may only grow."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from services.context.document import as_json
from services.context.mcp.toolbox import toolbox

PUBLISHED = Path(__file__).with_name("tools.json")
Json = dict[str, Any]

_LOWER = ("minimum", "minLength", "minItems")
_UPPER = ("maximum", "maxLength", "maxItems")


def build() -> Json:
    """The tools as a client of every toolset sees them."""
    return {
        name: {
            "description": one.description,
            "inputSchema": one.input,
            "outputSchema": one.output,
            "annotations": one.annotations(),
        }
        for name, one in toolbox(json.loads(as_json())).items()
    }


def rendered(tools: Json) -> str:
    return json.dumps(tools, indent=1, ensure_ascii=False) + "\n"


def breaks(published: Json, now: Json) -> list[str]:
    """Changes that could break a client which knows the published tools."""
    return [line for name, tool in published.items() for line in _tool(name, tool, now.get(name))]


def _tool(name: str, old: Json, new: Json | None) -> Iterator[str]:
    if new is None:
        yield f"{name}: is gone"
        return
    yield from _given(name, old["inputSchema"], new["inputSchema"])
    if (old["outputSchema"] is None) != (new["outputSchema"] is None):
        yield f"{name} answer: is of another shape"
    elif old["outputSchema"] is not None:
        yield from _answered(f"{name} answer", old["outputSchema"], new["outputSchema"])
    for hint in ("readOnlyHint", "idempotentHint"):
        if old["annotations"].get(hint) and not new["annotations"].get(hint):
            yield f"{name}: {hint} does not hold any more"
    if new["annotations"].get("destructiveHint") and not old["annotations"].get("destructiveHint"):
        yield f"{name}: is now destructive"


def _given(at: str, old: Json, new: Json) -> Iterator[str]:
    """Inputs that were accepted and no longer are."""
    if old.get("type") != new.get("type"):
        yield f"{at}: is of another type"
    if more := set(new.get("required", [])) - set(old.get("required", [])):
        yield f"{at}: requires {', '.join(sorted(more))}"
    if "enum" in new and not set(old.get("enum", [object()])) <= set(new["enum"]):
        yield f"{at}: accepts fewer values"
    for bounds, sign in ((_LOWER, 1), (_UPPER, -1)):
        for bound in bounds:
            if bound in new and (bound not in old or sign * (new[bound] - old[bound]) > 0):
                yield f"{at}: {bound} is narrower"
    for name, schema in old.get("properties", {}).items():
        if name not in new.get("properties", {}):
            yield f"{at}.{name}: is gone"
        else:
            yield from _given(f"{at}.{name}", schema, new["properties"][name])
    if "items" in old and "items" in new:
        yield from _given(f"{at}[]", old["items"], new["items"])


def _answered(at: str, old: Json, new: Json) -> Iterator[str]:
    """Outputs that are missing or of another type."""
    if old.get("type") != new.get("type"):
        yield f"{at}: is of another type"
    if fewer := set(old.get("required", [])) - set(new.get("required", [])):
        yield f"{at}: may lack {', '.join(sorted(fewer))}"
    if "enum" in old and not set(new.get("enum", [object()])) <= set(old["enum"]):
        yield f"{at}: has values that it had not"
    for name, schema in old.get("properties", {}).items():
        if name not in new.get("properties", {}):
            yield f"{at}.{name}: is gone"
        else:
            yield from _answered(f"{at}.{name}", schema, new["properties"][name])
    if isinstance(old.get("items"), dict) and isinstance(new.get("items"), dict):
        yield from _answered(f"{at}[]", old["items"], new["items"])
