"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from scrubjay.groups.async_calls import AsyncCalls
from scrubjay.groups.calls import Calls

__all__ = ["AsyncCalls", "Calls"]
