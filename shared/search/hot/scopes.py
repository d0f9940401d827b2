"""The copies that a process holds: which scopes are copied, and which copies go when there is no more room."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import NamedTuple, TypeAlias

import structlog

from shared.errors import AppError
from shared.search.hot.copies import Copy
from shared.telemetry import metrics

log = structlog.get_logger()

_MEGABYTE = 1024 * 1024
# A scope that is asked twice within this time is copied. A copy that nobody asks for as long is given up.
_AGAIN_SECONDS = 300.0
_EXPIRE_EVERY_SECONDS = 30.0
_REFUSED_SECONDS = 600.0
# Why copies are given up.
_ROOM, _IDLE = "room", "idle"
_MOST_ASKED = 20_000
_MOST_WAITING, _MOST_WAITING_OF_TENANT = 100, 50
# A copy that could not be read in time is put off for so many times as long as it took.
_PUT_OFF = 3


class Key(NamedTuple):
    store: str
    tenant: str
    scope: str
    model: str


Load: TypeAlias = Callable[[int], Awaitable[Copy | None]]
"""Reads a copy of at most so many bytes; None: it would have more."""


class _Entry(NamedTuple):
    copy: Copy
    size: int
    asked: float


class HotScopes:
    """Copies within a budget of bytes. When it is exceeded, the tenant with the most bytes gives up the copy that was
    asked longest ago, so no tenant displaces another's copies beyond an equal share.
    """

    def __init__(self, megabytes: int, clock: Callable[[], float] = time.monotonic) -> None:
        self._budget = megabytes * _MEGABYTE
        self._clock = clock
        self._entries: OrderedDict[Key, _Entry] = OrderedDict()  # those asked last stand last
        self._bytes: Counter[str] = Counter()  # by tenant
        self._asked: OrderedDict[Key, float] = OrderedDict()
        self._refused: dict[Key, float] = {}
        self._waiting: dict[Key, Load] = {}
        self._loaded: dict[str, float] = {}  # when each tenant's last load began
        self._wake = asyncio.Event()
        for reason in (_ROOM, _IDLE):
            metrics.HOT_EVICTIONS.labels(reason)  # starts at 0

    @property
    def bytes(self) -> int:
        return self._bytes.total()

    def get(self, key: Key) -> Copy | None:
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries[key] = entry._replace(asked=self._clock())
        self._entries.move_to_end(key)
        return entry.copy

    def ask(self, key: Key, load: Load) -> None:
        """Notes a question to a scope that is not copied. The second one in a while has it copied."""
        now, before = self._clock(), self._asked.get(key)
        self._asked[key] = now
        self._asked.move_to_end(key)
        if len(self._asked) > _MOST_ASKED:
            self._asked.popitem(last=False)
        if before is None or now - before > _AGAIN_SECONDS or now < self._refused.get(key, now):
            return
        own = sum(waiting.tenant == key.tenant for waiting in self._waiting)
        if self._budget and len(self._waiting) < _MOST_WAITING and own < _MOST_WAITING_OF_TENANT:
            self._waiting.setdefault(key, load)
            self._wake.set()

    def replace(self, key: Key, before: Copy, after: Copy) -> None:
        """Puts a newer copy in the place of `before`, unless another question has put one there."""
        entry = self._entries.get(key)
        if entry is not None and entry.copy is before:
            self._put(key, after)

    def drop(self, key: Key) -> None:
        if (entry := self._entries.pop(key, None)) is not None:
            self._bytes[key.tenant] -= entry.size
            if not self._bytes[key.tenant]:
                del self._bytes[key.tenant]
            self._report()

    def expire(self) -> None:
        """Gives up what nobody has asked for in a while: copies, and the names of scopes."""
        before = self._clock() - _AGAIN_SECONDS
        while self._entries and next(iter(self._entries.values())).asked < before:
            self._give_up(next(iter(self._entries)), _IDLE)
        while self._asked and next(iter(self._asked.values())) < before:
            self._asked.popitem(last=False)
        self._refused = {key: until for key, until in self._refused.items() if until > self._clock()}
        self._loaded = {tenant: begun for tenant, begun in self._loaded.items() if begun > before}

    async def load_forever(self) -> None:
        """Copies the scopes that wait, one at a time, and gives up copies that nobody asks for. Tenants take turns."""
        while True:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._wake.wait(), _EXPIRE_EVERY_SECONDS)
            self._wake.clear()
            self.expire()
            while self._waiting:
                key = self._next()
                begun = self._loaded[key.tenant] = self._clock()
                try:
                    await self._load(key, self._waiting[key])
                except AppError as error:
                    self._refused[key] = self._clock() + _PUT_OFF * (self._clock() - begun)
                    log.warning("copy a scope: put off", store=key.store, error=error.detail)
                except Exception as error:
                    log.error("copy a scope: failed", store=key.store, exc_info=error)
                finally:
                    del self._waiting[key]

    def _next(self) -> Key:
        """What has waited longest, of the tenant whose last load is longest ago."""
        return min(self._waiting, key=lambda key: self._loaded.get(key.tenant, 0.0))

    async def _load(self, key: Key, load: Load) -> None:
        copy = await load(self._budget // 2)
        if copy is None:
            self._refused[key] = self._clock() + _REFUSED_SECONDS
            return
        metrics.HOT_LOADS.labels(key.store).inc()
        self._put(key, copy)

    def _put(self, key: Key, copy: Copy) -> None:
        self.drop(key)
        entry = _Entry(copy, copy.size, self._clock())
        self._entries[key] = entry
        self._bytes[key.tenant] += entry.size
        if self.bytes > self._budget:
            self.expire()
        while self.bytes > self._budget:
            ((largest, _),) = self._bytes.most_common(1)
            self._give_up(next(key for key in self._entries if key.tenant == largest), _ROOM)
        self._report()

    def _give_up(self, key: Key, reason: str) -> None:
        self.drop(key)
        metrics.HOT_EVICTIONS.labels(reason).inc()

    def _report(self) -> None:
        metrics.HOT_BYTES.set(self.bytes)
        metrics.HOT_SCOPES.set(len(self._entries))
