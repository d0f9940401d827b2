"""What a route declares in its `opt` beyond its signature, for authorization and the API document.

Each name here is a part, and parts are merged: `opt=WRITE | KEYED | problems(404)`.
"""

from __future__ import annotations

from typing import Any

# The access that the caller's key needs.
PUBLIC: dict[str, Any] = {"access": "public"}
READ: dict[str, Any] = {"access": "read"}
WRITE: dict[str, Any] = {"access": "write"}
ADMIN: dict[str, Any] = {"access": "admin"}

# The route takes an Idempotency-Key.
KEYED: dict[str, Any] = {"keyed": True}


def problems(*statuses: int) -> dict[str, Any]:
    """Statuses that the route may answer, besides those implied by its access, its input and its key."""
    return {"problems": statuses}


def takes(seconds: float) -> dict[str, Any]:
    """The route's deadline, if not that of a read or a write."""
    return {"seconds": seconds}


def may_take(seconds: float) -> dict[str, Any]:
    """The deadline of requests that ask for what takes longer than the route's deadline: see `longest_deadline`."""
    return {"longest": seconds}


def answers(**by_name: Any) -> dict[str, Any]:
    """The types of answers if the signature says only Response: `json`, `lines` (JSON Lines), `events` (SSE)."""
    return {"answers": by_name}


def reads(**by_name: Any) -> dict[str, Any]:
    """The types of the body if the signature has none: `json`, `lines`."""
    return {"reads": by_name}
