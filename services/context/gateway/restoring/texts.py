"""Hidden results without what the conversation holds anyway, and with it again. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from services.context.gateway.restoring.hidden import Hidden

# Where a result has its text, by API.
_FIELDS = ("content", "output")
# Leads to a reference in place of a text, which is a string in every API.
_REFERENCE = "memory"
_ANY = msgspec.json.Decoder(dict[str, Any])


def without_texts(hidden: Hidden, references: Mapping[str, Any]) -> Hidden:
    """`references` by the texts that they stand for."""

    def shortened(text: Any) -> Any:
        is_known = isinstance(text, str) and text in references
        return {_REFERENCE: references[text]} if is_known else text

    return _changed(hidden, shortened)


def with_texts(hidden: Hidden, text_of: Callable[[Any], str | None]) -> Hidden | None:
    """None if the conversation no longer holds one of them."""
    lost = False

    def whole(text: Any) -> Any:
        nonlocal lost
        if not isinstance(text, dict):
            return text
        found = text_of(text.get(_REFERENCE))
        lost = lost or found is None
        return found

    filled = _changed(hidden, whole)
    return None if lost else filled


def _changed(hidden: Hidden, change: Callable[[Any], Any]) -> Hidden:
    steps = [
        msgspec.structs.replace(step, results=[_result(raw, change) for raw in step.results])
        for step in hidden.steps
    ]
    return msgspec.structs.replace(hidden, steps=steps)


def _result(raw: msgspec.Raw, change: Callable[[Any], Any]) -> msgspec.Raw:
    result = _ANY.decode(raw)
    changed = {name: change(value) if name in _FIELDS else value for name, value in result.items()}
    return msgspec.Raw(msgspec.json.encode(changed))
