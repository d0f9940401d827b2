"""The Idempotency-Key of a request."""

from __future__ import annotations

import hashlib
import re
from typing import Any
from urllib.parse import parse_qsl

import msgspec
from litestar import Request

from shared.auth import Principal
from shared.database.idempotency import Key
from shared.errors import Invalid

HEADER = "idempotency-key"
# How long the caller waits changes nothing that is written.
_UNCOUNTED = frozenset({"wait"})
_KEY = re.compile(r"^[\x21-\x7e]{1,200}$")


async def key_of(request: Request[Any, Any, Any]) -> Key | None:
    """The request's Idempotency-Key, with its principal and the path and body that a retry must repeat.

    Raises Invalid.
    """
    # Litestar keeps the headers that it has read, and the scrubber may have replaced this one since.
    raw = next((value for name, value in request.scope["headers"] if name == HEADER.encode()), None)
    if raw is None:
        return None
    value = raw.decode("latin-1")
    if not _KEY.match(value):
        raise Invalid.field("Idempotency-Key", "must be 1 to 200 printable ASCII characters without spaces")
    principal = request.scope["state"]["principal"]
    body = await request.body() + _asked(request) + _binding(principal)
    route = f"{request.method} {request.scope['path']}"
    return Key(principal.key, value, route, hashlib.sha256(body).digest())


def _asked(request: Request[Any, Any, Any]) -> bytes:
    """What the address asks beside the path, as the file to remove: with another, it is a different request."""
    asked = parse_qsl(request.scope["query_string"].decode("latin-1"), keep_blank_values=True)
    counted = sorted(pair for pair in asked if pair[0] not in _UNCOUNTED)
    return msgspec.json.encode(counted) if counted else b""


def _binding(principal: Principal) -> bytes:
    """The agent and mission that the key may fill in: with others, the same body is a different request."""
    bound = [name for name in (principal.agent, principal.mission) if name is not None]
    return msgspec.json.encode(bound) if bound else b""
