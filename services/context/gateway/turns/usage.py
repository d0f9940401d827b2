"""What a host is told of the usage of several requests that gave one answer. Pure.

Hosts take the input of an answer for the size of the conversation, and compact it by that.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_SAID = ("output_tokens", "completion_tokens")
_ADDED = (*_SAID, *(f"{name}_details" for name in _SAID), "server_tool_use")


def total(before: Mapping[str, Any], last: Mapping[str, Any]) -> dict[str, Any]:
    """The last request's, with what the model said in those before it added. `before` is such a total, too."""
    if not last:
        return dict(before)
    added = {name: _sum(before[name], last.get(name)) for name in _ADDED if name in before}
    if "total_tokens" in last:
        said = next((before[name] for name in _SAID if name in before), None)
        added["total_tokens"] = _sum(said, last["total_tokens"])
    return {**last, **added}


def _sum(first: Any, second: Any) -> Any:
    """Groups are added number by number; of anything else the second one's stands."""
    if isinstance(first, dict) and isinstance(second, dict):
        return {name: _sum(first.get(name), second.get(name)) for name in dict.fromkeys([*first, *second])}
    if _is_number(first) and _is_number(second):
        return first + second
    return first if second is None else second


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
