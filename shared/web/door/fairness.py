"""Whose requests wait when several tenants ask at once.

The heaviest tenant is the one whose requests have recently taken the longest, in total. If it also wants clearly
more than the average, those beyond a few wait for their turn. Those of all others start at once.

Each operation takes constant time, besides a look at the tenants whose requests run. Pure: the caller brings the time,
in seconds of a monotonic clock.
"""

from __future__ import annotations

import math
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import NamedTuple

# Tenants compete while each has sent a request within this time.
_RECENT_SECONDS = 10.0
# Work is forgotten at this rate.
_DECAY_SECONDS = 3.0
# The heaviest tenant makes way if its requests run or wait for more than so many times the average of all tenants.
_WANTS_MORE = 1.2
# Requests of a tenant other than the heaviest that may run or wait in any case. It starts no more at once.
_LIGHT_OPEN = 8
# At most so many tenants with a line are looked at to find whose turn it is.
_LOOKED_AT = 4
# A tenant of whose requests none runs waits no longer for the requests of others than this.
_TURN_SECONDS = 0.1
# A tenant whose requests run for a smaller part of the time is not made to rest.
_OCCUPIED = 0.25
# All requests of a tenant together rest no longer at a time.
_MOST_REST = 1.0
# Requests of callers that are not known, which are no pile.
_FEW_UNKNOWN = 4
# The name for all callers that are not known.
_UNKNOWN = ""


class Pile(NamedTuple):
    """Which requests of the heaviest tenant wait: those beyond `few`, until fewer run than this `part` of the limit.
    The limit rises while so many run, or half of it, and others are not slowed down."""

    few: int
    part: float


FRONT = Pile(1, 0.25)
"""Where callers come in."""
BEHIND = Pile(4, 1.0)
"""Behind a service that lets in few already. One assemble asks an owner two things at once."""


class Seconds:
    """The seconds for which requests have recently run, or waited, in total. `count` of them still do."""

    __slots__ = ("_as_of", "_ended", "_since", "count")

    def __init__(self, now: float) -> None:
        self.count = 0
        self._ended = 0.0
        self._as_of = now
        self._since = 0.0
        """The sum of the times when they began."""

    def at(self, now: float) -> float:
        return self._ended_by(now) + self.count * now - self._since

    def begin(self, now: float) -> None:
        self.count += 1
        self._since += now

    def end(self, since: float, now: float) -> None:
        """One of them has done it since then."""
        self.count -= 1
        self._since = self._since - since if self.count else 0.0
        self._ended, self._as_of = self._ended_by(now) + now - since, now

    def leave_out(self, seconds: float) -> None:
        """One of them has not done it for so long."""
        self._since += seconds

    def _ended_by(self, now: float) -> float:
        return self._ended * math.exp((self._as_of - now) / _DECAY_SECONDS)


class Share:
    """One tenant's requests: `open` are not yet answered, `admitted` run or wait, `waiting` are in its line, and
    `competing` of those that run are young.

    `busy` are the seconds for which they run, `wanted` those for which they run or wait.
    """

    __slots__ = (
        "_refused",
        "_refused_as_of",
        "_rests_until",
        "admitted",
        "busy",
        "competing",
        "line",
        "open",
        "seen",
        "tenant",
        "waiting",
        "wanted",
    )

    def __init__(self, tenant: str, now: float) -> None:
        self.tenant = tenant
        self.open = 0
        self.admitted = 0
        self.competing = 0
        self.waiting = 0
        self.seen = now
        self.line: deque[Work] = deque()
        self.busy = Seconds(now)
        self.wanted = Seconds(now)
        self._refused = 0.0
        self._refused_as_of = now
        self._rests_until = 0.0

    def weight(self, now: float) -> float:
        """What it takes, and by its root what it wanted beyond that.

        While the machine is slow, a few requests of one tenant take as long as all that a flood may run.
        """
        return self.busy.at(now) * math.sqrt(1.0 + self._recently_refused(now))

    def refuse(self, now: float) -> None:
        self._refused, self._refused_as_of = self._recently_refused(now) + 1.0, now

    def rest(self, seconds: float, most: float, now: float) -> float:
        """How long one of its requests is to do nothing, `most` at most: after the rest of those before it, its own
        `seconds`."""
        self._rests_until = min(max(self._rests_until, now) + seconds, now + _MOST_REST)
        return min(most, self._rests_until - now)

    def _recently_refused(self, now: float) -> float:
        return self._refused * math.exp((self._refused_as_of - now) / _DECAY_SECONDS)


class Work:
    """One request in progress, after `seconds` of work so far. It is `young` while it competes with others.

    Since `resumed`, it runs or waits.
    """

    __slots__ = ("entered", "paid", "resumed", "running", "seconds", "share", "start", "young")

    def __init__(self, entered: float, share: Share) -> None:
        self.entered = entered
        self.resumed = entered
        self.seconds = 0.0
        self.paid = 0.0
        """The seconds since `resumed` for which it has rested, or which others have worked."""
        self.running = False
        self.young = False
        self.share = share
        self.start: Callable[[], None] | None = None
        """What to call when its turn comes, while it waits."""


class Shares:
    """The tenants of recent and open requests."""

    def __init__(self, few: int) -> None:
        self._few = few
        self._by_tenant: OrderedDict[str, Share] = OrderedDict()
        self._heaviest: Share | None = None
        """By the requests that have ended."""
        self._running: dict[str, Share] = {}
        self._wanted = Seconds(0.0)
        """Of all tenants that are known."""
        self._lines: deque[Share] = deque()
        self.waiting = 0

    def arrive(self, tenant: str, now: float) -> Share:
        share = self._by_tenant.get(tenant)
        if share is None:
            share = self._by_tenant[tenant] = Share(tenant, now)
        share.seen = now
        self._by_tenant.move_to_end(tenant)
        self._forget(now)
        return share

    def compete(self) -> bool:
        """Whether several tenants send requests. Callers that are not known count once they pile up."""
        unknown = self._by_tenant.get(_UNKNOWN)
        if unknown is None or unknown.admitted >= _FEW_UNKNOWN:
            return len(self._by_tenant) > 1
        return len(self._by_tenant) > 2

    def may_open(self, tenant: str, allowed: float, now: float) -> bool:
        """Whether the tenant has less than its share of the `allowed` requests."""
        share = self._by_tenant.get(tenant)
        if share is None:
            return bool(self._by_tenant)
        part = allowed / len(self._by_tenant)
        light = self.compete() and share is not self._heaviest_at(now)
        return share.admitted + 1 <= (max(_LIGHT_OPEN, part) if light else part)

    def refuse(self, tenant: str, now: float) -> None:
        """Counts a refused request of a tenant that is known."""
        if (share := self._by_tenant.get(tenant)) is not None:
            share.refuse(now)

    def open_of(self, tenant: str) -> int:
        share = self._by_tenant.get(tenant)
        return share.open if share else 0

    def piles_up(self, share: Share, now: float) -> bool:
        """Whether it outweighs others, and a few of its requests run or wait already. A newcomer, which has no weight
        yet, piles up with more."""
        if share.competing >= _LIGHT_OPEN and self.compete():
            return True
        return share.admitted >= self._few and self.outweighs(share, now)

    def outweighs(self, share: Share, now: float) -> bool:
        """Whether it is the heaviest of several, and wants clearly more than the average.

        Of tenants that want the same, each is the heaviest for a while, and would make way for its equals.
        """
        if not self.compete() or share is not self._heaviest_at(now):
            return False
        known = len(self._by_tenant) - (_UNKNOWN in self._by_tenant)
        return share.wanted.at(now) * known > _WANTS_MORE * self._wanted.at(now)

    def occupies(self, share: Share, now: float) -> bool:
        """Whether it outweighs others, and a request of it runs for a good part of the time."""
        return share.busy.at(now) > _OCCUPIED * _DECAY_SECONDS and self.outweighs(share, now)

    def run(self, share: Share, now: float) -> None:
        for seconds in (share.busy, *self._wanted_by(share)):
            seconds.begin(now)
        self._running[share.tenant] = share

    def pause(self, share: Share, resumed: float, now: float) -> None:
        """One of its requests has run since `resumed`."""
        for seconds in (share.busy, *self._wanted_by(share)):
            seconds.end(resumed, now)
        if not share.busy.count:
            del self._running[share.tenant]
        # What has ended decays at the same rate for all, so only the tenant that is added to can become the heaviest.
        if self._heaviest is None or share.weight(now) >= self._heaviest.weight(now):
            self._heaviest = share

    def rested(self, share: Share, for_seconds: float) -> None:
        """One of its requests has done nothing for so long, which does not make it heavier."""
        for seconds in (share.busy, *self._wanted_by(share)):
            seconds.leave_out(for_seconds)

    def _wanted_by(self, share: Share) -> tuple[Seconds, ...]:
        """The sums of what a tenant wants. Strangers are in no average, or a flood would seem small beside theirs."""
        return (share.wanted,) if share.tenant == _UNKNOWN else (share.wanted, self._wanted)

    def _heaviest_at(self, now: float) -> Share | None:
        """A long request makes its tenant heavy while it runs, and not only when it ends."""
        known = [self._heaviest] if self._heaviest else []
        return max((*known, *self._running.values()), key=lambda share: share.weight(now), default=None)

    def wait(self, work: Work, start: Callable[[], None], now: float) -> None:
        work.start, work.resumed = start, now
        for seconds in self._wanted_by(work.share):
            seconds.begin(now)
        if not work.share.line:
            self._lines.append(work.share)
        work.share.line.append(work)
        work.share.waiting += 1
        self.waiting += 1

    def give_up(self, work: Work, now: float) -> None:
        if work.start is not None:
            work.start = None
            self._no_longer_waits(work, now)

    def next(self, now: float, *, room: bool) -> Work | None:
        """The request whose turn it is. It no longer waits."""
        left = min(len(self._lines), _LOOKED_AT)
        while self._lines and left:
            share = self._lines.popleft()
            if room or self._may_go_on(share, now):
                work = share.line.popleft()
                if share.line:
                    self._lines.append(share)
                if work.start is not None:
                    self._no_longer_waits(work, now)
                    return work
            else:
                self._lines.append(share)
                left -= 1
        return None

    def _may_go_on(self, share: Share, now: float) -> bool:
        """Whether the first of its line may run beside all others: it starts as many as without a line."""
        if not share.competing and share.line[0].resumed + _TURN_SECONDS <= now:
            return True
        return share.competing < _LIGHT_OPEN and not self.outweighs(share, now)

    def _no_longer_waits(self, work: Work, now: float) -> None:
        for seconds in self._wanted_by(work.share):
            seconds.end(work.resumed, now)
        work.share.waiting -= 1
        self.waiting -= 1

    def _forget(self, now: float) -> None:
        for tenant, share in self._by_tenant.items():
            if share.seen > now - _RECENT_SECONDS:
                return
            if not share.open:
                del self._by_tenant[tenant]
                if share is self._heaviest:
                    self._heaviest = None
                return
            # It comes up again after the others.
            self._by_tenant.move_to_end(tenant)
            return
