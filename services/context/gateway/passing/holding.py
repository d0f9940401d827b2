"""How many bytes of requests the gateway holds: a request has to be there whole before it goes on."""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from shared.errors import TooMany

_RETRY_SECONDS = 1.0


class HeldLimits(NamedTuple):
    """In bytes."""

    per_tenant: int
    total: int


class Holding:
    def __init__(self, limits: HeldLimits) -> None:
        self._limits = limits
        self._by_tenant: Counter[str] = Counter()
        self._total = 0

    def begin(self, tenant: str) -> Held:
        return Held(self, tenant)

    def change(self, tenant: str, by: int) -> None:
        """Raises TooMany, and changes nothing, where no room is left."""
        limits = self._limits
        if by > 0 and self._by_tenant[tenant] + by > limits.per_tenant:
            raise TooMany(
                f"this tenant has requests of {limits.per_tenant} bytes under way",
                retry_after=_RETRY_SECONDS,
                limit="gateway_bytes_per_tenant",
            )
        if by > 0 and self._total + by > limits.total:
            raise TooMany(
                "the gateway holds as much as it can", retry_after=_RETRY_SECONDS, limit="gateway_bytes"
            )
        self._total += by
        self._by_tenant[tenant] += by
        if not self._by_tenant[tenant]:
            del self._by_tenant[tenant]


class Held:
    """What one request holds: `size` counts from the first piece, `body` is there once it is whole.

    Nothing else may hold the body, so that it is gone when it no longer counts.
    """

    def __init__(self, holding: Holding, tenant: str) -> None:
        self._holding, self._tenant = holding, tenant
        self.size = 0
        self.body = b""

    def add(self, size: int) -> None:
        """Raises TooMany."""
        self._holding.change(self._tenant, size)
        self.size += size

    def end(self) -> None:
        """May be said twice."""
        self._holding.change(self._tenant, -self.size)
        self.size, self.body = 0, b""
