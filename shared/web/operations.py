"""What a route says of itself beyond its signature, as `opt`: for the guard, and for the API's document.

`{"access": ...}` is who may call it; the others are merged into it: `opt=WRITE | KEYED | problems(404)`.
"""

from __future__ import annotations

from typing import Any

# Who may call it: what its key must allow.
PUBLIC: dict[str, Any] = {"access": "public"}
READ: dict[str, Any] = {"access": "read"}
WRITE: dict[str, Any] = {"access": "write"}
ADMIN: dict[str, Any] = {"access": "admin"}

# Takes an Idempotency-Key.
KEYED: dict[str, Any] = {"keyed": True}


def problems(*statuses: int) -> dict[str, Any]:
    """What it may answer besides the problems that follow from its access, its input and its key."""
    return {"problems": statuses}


def takes(seconds: float) -> dict[str, Any]:
    """Its deadline, where it is not that of a read or a write."""
    return {"seconds": seconds}


def answers(**by_name: Any) -> dict[str, Any]:
    """Types of its answers where the signature has only a Response: `json`, `lines` (JSON Lines), `events` (SSE)."""
    return {"answers": by_name}


def reads(**by_name: Any) -> dict[str, Any]:
    """Types of its body where the signature has none: `json`, `lines`."""
    return {"reads": by_name}
