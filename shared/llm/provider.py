"""What every provider of a helper model offers, and how its calls fail."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from shared.concurrency.calls import CallFailed, reason_of, retry_after_seconds
from shared.spending import Tokens

__all__ = ["Completion", "HelperUnavailable", "Provider", "Tokens", "refused"]


class HelperUnavailable(CallFailed):
    """The helper model gives no answer now."""

    called = "helper"


class Completion(NamedTuple):
    fields: bytes
    """JSON, as the schema asks for if the model keeps to it."""
    tokens: Tokens | None
    """None where the server counts none."""


class Provider(Protocol):
    async def complete(self, rules: str, text: str, schema: dict[str, Any], most_tokens: int) -> Completion:
        """One call, without a second attempt. Raises HelperUnavailable."""

    async def ready(self) -> None:
        """A call that costs nothing. Raises HelperUnavailable."""

    async def close(self) -> None: ...


def refused(status: int, retry_after: str | None, cause: str) -> HelperUnavailable:
    return HelperUnavailable(
        reason_of(status),
        f"HTTP {status}: {cause[:300]}",
        retry_after=retry_after_seconds(retry_after),
        http_status=status,
    )
