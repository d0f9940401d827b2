"""Requests per second of a key, over all replicas: the generic cell rate algorithm, in Redis.

Redis keeps one time per key: when all its requests will have been paid off. A request moves it by one interval, and
is refused if that is more than a burst ahead of now. Without Redis, each replica counts alone.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import redis.asyncio as redis
import structlog
from redis.exceptions import RedisError

from shared.errors import TooMany
from shared.telemetry import metrics

log = structlog.get_logger()

DAY = 86_400
_KEY = "rate:"
_PATIENCE_SECONDS = 0.1
_AWAY_SECONDS = 1.0
_MOST_LOCAL = 10_000

# KEYS: the key's time; ARGV: interval and burst. All in microseconds, by Redis's clock.
_LUA = """
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local interval, burst = tonumber(ARGV[1]), tonumber(ARGV[2])
local due = math.max(tonumber(redis.call('GET', KEYS[1]) or 0), now)
local wait = due + interval - burst * interval - now
if wait > 0 then
    return {wait, due - now}
end
due = due + interval
redis.call('SET', KEYS[1], string.format('%.0f', due), 'PX', math.ceil((due - now) / 1000))
return {0, due - now}
"""


class Allowance(NamedTuple):
    """The state of one limit. Times are in seconds from now."""

    name: str
    limit: float
    most: int
    """The most requests or tokens in the window, or the burst."""
    window: int
    remaining: int
    reset: float
    """Until the full allowance is available again."""
    wait: float
    """Until a request is allowed; 0 allows this one."""
    of_maker: bool = False
    """It is the limit of a key that this one descends from, for all its keys together."""


def headers(allowances: Sequence[Allowance]) -> list[tuple[bytes, bytes]]:
    """The RateLimit headers: the state of the limit with the least left, and the policy of all."""
    if not allowances:
        return []
    nearest = min(allowances, key=lambda one: one.remaining / one.most)
    policy = ", ".join(f'{one.most};w={one.window};comment="{one.name}"' for one in allowances)
    return [
        (b"ratelimit-limit", b"%d" % nearest.most),
        (b"ratelimit-remaining", b"%d" % nearest.remaining),
        (b"ratelimit-reset", b"%d" % math.ceil(nearest.reset)),
        (b"ratelimit-policy", policy.encode()),
    ]


def take(due: float, now: float, rate: float, burst: int) -> tuple[float, float, float]:
    """The new `due` after a request at `now`, how long it must wait (0: it is allowed), and the time until the whole
    burst is free again. All in seconds."""
    interval = 1 / rate
    due = max(due, now)
    wait = due + interval - burst * interval - now
    # Tolerate a microsecond, because sums of intervals are not exact.
    if wait > 1e-6:
        return due, wait, due - now
    return due + interval, 0.0, due + interval - now


def refusal(allowance: Allowance) -> TooMany:
    most = f"{allowance.limit:g} {allowance.name.replace('_', ' ')}"
    whose = "the key that made this one is, with all its keys," if allowance.of_maker else "this key is"
    return TooMany(f"{whose} limited to {most}", retry_after=allowance.wait, limit=allowance.name)


def _allowance(rate: float, burst: int, wait: float, full: float) -> Allowance:
    # Round first, because intervals are not whole microseconds.
    remaining = max(0, math.floor(round(burst - full * rate, 3)))
    window = math.ceil(burst / rate)
    return Allowance("requests_per_second", rate, burst, window, remaining, full, wait)


class Rates:
    def __init__(self, client: redis.Redis) -> None:
        self._client = client
        self._script = client.register_script(_LUA)
        self._away_until = 0.0
        self._local: dict[str, float] = {}

    async def close(self) -> None:
        await self._client.aclose()

    async def forget(self, keys: Iterable[str]) -> None:
        """Without Redis, they expire when their bursts are free again."""
        names = [_KEY + key for key in keys]
        for name in names:
            self._local.pop(name.removeprefix(_KEY), None)
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                if names:
                    await self._client.delete(*names)
        except (RedisError, OSError, TimeoutError) as error:
            log.debug("rates are not forgotten", error=type(error).__name__)

    async def take(self, key: str, rate: float, burst: int) -> Allowance:
        """Counts one request of `key`, in bounded time whatever Redis does."""
        if time.monotonic() >= self._away_until:
            try:
                async with asyncio.timeout(_PATIENCE_SECONDS):
                    wait, full = await self._script(keys=[_KEY + key], args=[round(1e6 / rate), burst])
                return _allowance(rate, burst, wait / 1e6, full / 1e6)
            except (RedisError, OSError, TimeoutError) as error:
                self._away_until = time.monotonic() + _AWAY_SECONDS
                metrics.RATES_LOCAL.inc()
                log.debug("rates are counted here", error=type(error).__name__)
        return self._take_here(key, rate, burst)

    def _take_here(self, key: str, rate: float, burst: int) -> Allowance:
        now = time.monotonic()
        if len(self._local) >= _MOST_LOCAL:
            self._local = {one: due for one, due in self._local.items() if due > now}
        self._local[key], wait, full = take(self._local.get(key, 0.0), now, rate, burst)
        return _allowance(rate, burst, wait, full)
