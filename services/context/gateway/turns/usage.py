"""What several requests used, as if it had been one. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def total(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers are added, in groups too; of anything else the second one's stands."""
    names = dict.fromkeys([*first, *second])
    return {name: _sum(first.get(name), second.get(name)) for name in names}


def _sum(first: Any, second: Any) -> Any:
    if isinstance(first, dict) and isinstance(second, dict):
        return total(first, second)
    if _is_number(first) and _is_number(second):
        return first + second
    return first if second is None else second


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
