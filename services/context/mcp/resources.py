"""MCP resources: missions, their entries and events, and the sources of blocks. Pure."""

from __future__ import annotations

import re
from typing import Any, NamedTuple
from urllib.parse import unquote

from services.context.stores import CACHE

SCHEME = "scrubjay://"
_MOST_EVENTS = 1_000


class Resource(NamedTuple):
    """Reading it calls `operation` with `arguments` and the values of the names in braces."""

    uri: str
    name: str
    title: str
    description: str
    operation: str
    arguments: dict[str, Any]

    @property
    def is_template(self) -> bool:
        return "{" in self.uri


RESOURCES = (
    Resource(
        f"{SCHEME}missions",
        "missions",
        "Missions",
        "The missions that the key may read, with their budgets and what they hold.",
        "cache_missions",
        {"limit": 1_000},
    ),
    Resource(
        f"{SCHEME}timeline",
        "timeline",
        "Timeline",
        "What happened, from the beginning of what is kept: numbered events with kinds and ids, never content.",
        "timeline",
        {"limit": _MOST_EVENTS},
    ),
    Resource(
        f"{SCHEME}monitor",
        "monitor",
        "Monitor",
        "What each agent is doing now.",
        "monitor",
        {},
    ),
    Resource(
        f"{SCHEME}missions/{{mission_id}}",
        "mission",
        "A mission's entries",
        "The live entries of a mission, newest first.",
        "cache_mission_entries",
        {},
    ),
    Resource(
        f"{SCHEME}missions/{{mission}}/timeline",
        "mission_timeline",
        "A mission's timeline",
        "What happened in a mission, in order.",
        "timeline",
        {"limit": _MOST_EVENTS},
    ),
    Resource(
        f"{SCHEME}timeline/{{after}}",
        "timeline_after",
        "The timeline after a number",
        "Events after a number: the seq of the last event that was read.",
        "timeline",
        {"limit": _MOST_EVENTS},
    ),
    Resource(
        f"{SCHEME}sources/{{handle}}",
        "source",
        "A source",
        f"The whole item behind a handle of a block, such as {CACHE.handle(12)}.",
        "context_source",
        {},
    ),
)


def find(uri: str) -> tuple[str, dict[str, Any]] | None:
    """The operation that reads an address, and its arguments."""
    for resource in RESOURCES:
        pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/?]+)", re.escape(resource.uri))
        if match := re.fullmatch(pattern, uri):
            named = {name: unquote(value) for name, value in match.groupdict().items()}
            return resource.operation, {**resource.arguments, **named}
    return None
