"""Text as Scrubjay stores it: with neither U+0000 nor half a surrogate pair."""

from __future__ import annotations

import re
from typing import Any

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")


def storable(text: str) -> str:
    return _UNSTORABLE.sub("\ufffd", text)


def storable_value(value: Any) -> Any:
    """JSON with each of its texts and names made storable."""
    if isinstance(value, str):
        return storable(value)
    if isinstance(value, dict):
        return {storable(name): storable_value(item) for name, item in value.items()}
    return [storable_value(item) for item in value] if isinstance(value, list) else value
