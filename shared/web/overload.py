"""How many requests are worked on at once: what comes beyond that is refused at once instead of being answered late.

While little is refused, `pile` requests may pile up: callers that wait for their answers before they ask again do no
harm. Where more comes than can be done, a pile only makes every answer late. So as soon as a good share is refused,
only as many are let in as do not slow each other down: small steps up, large ones down, steered by how much longer
requests take than requests of their route do when they are alone.

Pure: the caller brings the time, in seconds of a monotonic clock.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Hashable

# One may always go on; how long a request takes alone is what others are compared with.
LEAST = 1
# Requests may take so much longer than alone.
_SLOWER = 1.25
# The share of refusals that is too much for a pile; each request says so much of it, and it is forgotten with time.
_SHARE = 0.4
_SHARE_OF_ONE = 1 / 64
_SHARE_SECONDS = 3.0
_LOOK_SECONDS = 0.1
_LOOK_SAMPLES = 16
_LOOK_AT_LAST = 1.0
_LEARN = 0.1
_MOST_ROUTES = 1_000
# A request older than this, and than answers usually are, waits for something that does not come: not for its turn.
_OLD_SECONDS = 1.0
_OLD_USUAL = 2.0
_OLD_TOO = 4


class Work:
    """One request while it is worked on. `young` is whether it still counts as competing with others."""

    __slots__ = ("entered", "resumed", "seconds", "young")

    def __init__(self, entered: float) -> None:
        self.entered = entered
        self.resumed = entered
        self.seconds = 0.0
        self.young = False


class Gate:
    """`working` are being worked on, of which `_young` count against the limit."""

    def __init__(self, pile: int) -> None:
        self._pile = pile
        self.limit = float(LEAST)
        self.working = 0
        self._young = 0
        self._order: deque[Work] = deque()
        self._refused = 0.0
        self._arrived = 0.0
        self._crowded = 0.0
        self._alone: dict[Hashable, float] = {}
        self._usual = 0.0
        self._slower = 0.0
        self._samples = 0
        self._needed = False
        self._looked = 0.0

    def full(self, now: float) -> bool:
        self._forget_old(now)
        return self._young + 1 > self.allowed() or self.working >= _OLD_TOO * self._pile

    def refuse(self, now: float) -> None:
        """One that came while it was full."""
        self._came(now, True)

    def enter(self, now: float) -> Work | None:
        """None: it is refused."""
        full = self.full(now)
        self._came(now, full)
        if full:
            return None
        work = Work(now)
        self.resume(work, now)
        return work

    def _came(self, now: float, refused: bool) -> None:
        self._refused *= math.exp((self._arrived - now) / _SHARE_SECONDS)
        self._refused += _SHARE_OF_ONE * (refused - self._refused)
        self._arrived = now
        self._needed = self._needed or self._young + 1 >= self.limit / 2

    def pause(self, work: Work, now: float) -> None:
        """It waits for its client, which takes nothing from others."""
        work.seconds += now - work.resumed
        if self._young > LEAST:
            self._crowded = now
        self.working -= 1
        self._young -= work.young
        work.young = False

    def resume(self, work: Work, now: float) -> None:
        work.resumed = now
        work.young = True
        self.working += 1
        self._young += 1
        self._order.append(work)

    def learn(self, work: Work, route: Hashable, now: float) -> None:
        """From a request that was answered, and has been paused."""
        self._usual += _LEARN * (work.seconds - self._usual)
        took = math.log(max(work.seconds, 1e-6))
        alone = self._alone.get(route)
        if work.entered > self._crowded:
            if alone is None and len(self._alone) >= _MOST_ROUTES:
                self._alone.clear()
            alone = self._alone[route] = took if alone is None else alone + _LEARN * (took - alone)
        if alone is not None:
            self._slower += took - alone
            self._samples += 1
            passed = now - self._looked
            if (self._samples >= _LOOK_SAMPLES and passed >= _LOOK_SECONDS) or passed >= _LOOK_AT_LAST:
                self._look(now)

    def _look(self, now: float) -> None:
        slower = math.exp(self._slower / self._samples)
        if slower > _SLOWER:
            self.limit = max(LEAST, self.limit * max(0.5, _SLOWER / slower))
        elif self._needed:
            self.limit = min(self._pile * _OLD_TOO, self.limit + max(0.25, self.limit / 4))
        self._slower, self._samples, self._needed, self._looked = 0.0, 0, False, now

    def allowed(self) -> float:
        return self.limit if self._refused > _SHARE else max(self.limit, self._pile)

    def _forget_old(self, now: float) -> None:
        order, old = self._order, now - _OLD_SECONDS - _OLD_USUAL * self._usual
        while order and (not order[0].young or order[0].resumed < old):
            work = order.popleft()
            self._young -= work.young
            work.young = False
