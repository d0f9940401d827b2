"""How many event streams are open: of each key, of each tenant, and in all. An open stream mostly waits, so it does not
count as a request in progress."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from prometheus_client import Gauge

from shared.auth import Principal
from shared.errors import TooMany
from shared.telemetry import metrics

_RETRY_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class StreamLimits:
    per_key: int = 32
    per_tenant: int = 128
    total: int = 256


class Streams:
    def __init__(self, limits: StreamLimits, gauge: Gauge = metrics.STREAMS, name: str = "streams") -> None:
        self._limits = limits
        self._name = name
        self._by_key: Counter[tuple[str, str]] = Counter()
        self._by_tenant: Counter[str] = Counter()
        self._open = 0
        gauge.set_function(lambda: self._open)

    def open(self, principal: Principal) -> Callable[[], None]:
        """Counts one stream until the returned function is called. Raises TooMany, which names the limit."""
        key, tenant = (principal.tenant, principal.key), principal.tenant
        most, name = self._limits, self._name
        _require(self._by_key[key], most.per_key, f"{name}_per_key", "this key")
        _require(self._by_tenant[tenant], most.per_tenant, f"{name}_per_tenant", "this tenant")
        _require(self._open, most.total, name, "this service")
        self._count(key, tenant, 1)
        return lambda: self._count(key, tenant, -1)

    def _count(self, key: tuple[str, str], tenant: str, change: int) -> None:
        self._open += change
        self._by_key[key] += change
        self._by_tenant[tenant] += change
        if not self._by_key[key]:
            del self._by_key[key]
        if not self._by_tenant[tenant]:
            del self._by_tenant[tenant]


def _require(count: int, most: int, limit: str, holder: str) -> None:
    if count >= most:
        raise TooMany(
            f"{holder} is limited to {most} open {_kind(limit)}", retry_after=_RETRY_SECONDS, limit=limit
        )


def _kind(limit: str) -> str:
    return limit.partition("_per_")[0].replace("_", " ")
