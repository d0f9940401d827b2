"""Client of Scrubjay: memory and context for fleets of AI agents."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from scrubjay._data import UNSET
    from scrubjay._pages import AsyncPages, Pages
    from scrubjay._version import __version__
    from scrubjay.blocks import Item, parse_block
    from scrubjay.client import Agent, AsyncAgent, AsyncClient, Client
    from scrubjay.errors import (
        ApiError,
        ConflictError,
        ForbiddenError,
        InvalidError,
        NotFoundError,
        NotReachedError,
        Problem,
        ScrubjayError,
        TooLargeError,
        TooManyError,
        UnauthorizedError,
        UnavailableError,
        UnknownHostError,
        UnprocessableError,
    )

__all__ = [
    "UNSET",
    "Agent",
    "ApiError",
    "AsyncAgent",
    "AsyncClient",
    "AsyncPages",
    "Client",
    "ConflictError",
    "ForbiddenError",
    "InvalidError",
    "Item",
    "NotFoundError",
    "NotReachedError",
    "Pages",
    "Problem",
    "ScrubjayError",
    "TooLargeError",
    "TooManyError",
    "UnauthorizedError",
    "UnavailableError",
    "UnknownHostError",
    "UnprocessableError",
    "__version__",
    "parse_block",
]

# A hook of a coding agent has no time to load what it does not use, such as httpx.
_HOMES = {
    "UNSET": "scrubjay._data",
    "AsyncPages": "scrubjay._pages",
    "Pages": "scrubjay._pages",
    "__version__": "scrubjay._version",
    "Item": "scrubjay.blocks",
    "parse_block": "scrubjay.blocks",
    "Agent": "scrubjay.client",
    "AsyncAgent": "scrubjay.client",
    "AsyncClient": "scrubjay.client",
    "Client": "scrubjay.client",
    "ApiError": "scrubjay.errors",
    "ConflictError": "scrubjay.errors",
    "ForbiddenError": "scrubjay.errors",
    "InvalidError": "scrubjay.errors",
    "NotFoundError": "scrubjay.errors",
    "NotReachedError": "scrubjay.errors",
    "Problem": "scrubjay.errors",
    "ScrubjayError": "scrubjay.errors",
    "TooLargeError": "scrubjay.errors",
    "TooManyError": "scrubjay.errors",
    "UnauthorizedError": "scrubjay.errors",
    "UnavailableError": "scrubjay.errors",
    "UnknownHostError": "scrubjay.errors",
    "UnprocessableError": "scrubjay.errors",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = getattr(importlib.import_module(home), name)
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})
