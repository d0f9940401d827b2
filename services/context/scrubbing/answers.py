"""Tells the caller what was masked: an answer that is a JSON object begins with it."""

from __future__ import annotations

from typing import Any

import msgspec
from litestar.types import Message, Scope

from services.context.scrubbing.service import MASKED

_TYPE, _LENGTH, _JSON = b"content-type", b"content-length", b"application/json"
_TOLD = "masked_told"
"""Where the state holds what goes before the answer."""


async def tell_masked(message: Message, scope: Scope) -> None:
    """Litestar calls it before each message of an answer."""
    state: Any = scope["state"]
    if MASKED not in state:
        return
    if message["type"] == "http.response.start":
        _lengthen(message, state)
    elif message["type"] == "http.response.body" and (told := state.pop(_TOLD, None)) is not None:
        message["body"] = told + message["body"][1:]


def _lengthen(start: Any, state: Any) -> None:
    """No answer is an empty object, so the rest follows a comma."""
    headers = dict(start["headers"])
    if start["status"] >= 300 or not headers.get(_TYPE, b"").startswith(_JSON):
        return
    state[_TOLD] = b'{"%s":%s,' % (MASKED.encode(), msgspec.json.encode(state[MASKED]))
    if _LENGTH in headers:
        headers[_LENGTH] = b"%d" % (int(headers[_LENGTH]) + len(state[_TOLD]) - 1)
        start["headers"] = [*headers.items()]
