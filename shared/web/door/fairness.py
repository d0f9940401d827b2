"""Whose requests wait when several tenants ask at once.

The tenants that want too much are the crowd. Their requests take turns, a few at a time however many they are, and
rest. Those of all others start at once.

Each operation takes constant time, besides a look at all tenants of which a hundredth of the time is spent at most.
Pure: the caller brings the time, in seconds of a monotonic clock.
"""

from __future__ import annotations

from collections import OrderedDict, deque
from collections.abc import Callable
from typing import NamedTuple

from shared.web.door.demand import DECAY_SECONDS, Limit, Seconds, limit_of

# Tenants compete while each has sent a request within this time.
_RECENT_SECONDS = 10.0
# Requests that a core can work on without slowing them much: each also waits for others.
_EACH_CORE = 2.0
# The crowd is looked for this often, and less often where it takes longer: so long for each tenant.
_LOOK_SECONDS, _LOOK_SECONDS_EACH = 0.02, 1e-4
# Requests of a tenant outside the crowd that may run or wait in any case. It starts no more at once.
_LIGHT_OPEN = 8
# At most so many tenants with a line are looked at to find whose turn it is.
_LOOKED_AT = 4
# Who is refused is told to wait for so long.
_REFUSED_SECONDS = 1.0
# One of those who wait starts after this time, if none has.
_TURN_SECONDS = 0.1
# A crowd whose requests run for a smaller part of the time is not made to rest.
_OCCUPIED = 0.25
# Processors are busy if requests run for such a part of the time.
_ALL_BUSY = 0.7
# All requests of the crowd together rest no longer at a time.
_MOST_REST = 1.0
# Requests of callers that are not known, which are no pile.
_FEW_UNKNOWN = 4
# The name for all callers that are not known.
_UNKNOWN = ""


class Pile(NamedTuple):
    """Which requests of the crowd wait: those of a tenant beyond `few`, until fewer run than this `part` of the limit.
    The limit rises while so many run, or half of it, and others are not slowed down."""

    few: int
    part: float


FRONT = Pile(1, 0.25)
"""Where callers come in."""
BEHIND = Pile(4, 1.0)
"""Behind a service that lets in few already. One assemble asks an owner two things at once."""


class Share:
    """One tenant's requests: `open` are not yet answered, `admitted` run or wait, `waiting` are in its line, and
    `competing` of those that run are young.

    `busy` are the seconds for which they run without rest, `wanted` those for which they run or wait.
    """

    __slots__ = ("admitted", "busy", "competing", "line", "open", "seen", "tenant", "waiting", "wanted")

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


class Work:
    """One request in progress, after `seconds` of work so far. It is `young` while it competes with others.

    Since `resumed`, it runs or waits, besides what it has `rested`.
    """

    __slots__ = ("entered", "paid", "rested", "resumed", "running", "seconds", "share", "start", "young")

    def __init__(self, entered: float, share: Share) -> None:
        self.entered = entered
        self.resumed = entered
        self.seconds = 0.0
        self.rested = 0.0
        self.paid = 0.0
        """The seconds since `resumed` that it has rested for, or which others have worked."""
        self.running = False
        self.young = False
        self.share = share
        self.start: Callable[[], None] | None = None
        """What to call when its turn comes, while it waits."""


class Crowd(NamedTuple):
    """The tenants that want too much: how many they are, how many of their requests run, and for how many seconds these
    have recently run. `others_take` so many on average, if they leave no processor free, or else none."""

    limit: Limit = limit_of([], 0.0)
    tenants: int = 0
    running: int = 0
    taken: float = 0.0
    others_take: float = 0.0


class Shares:
    """The tenants of recent and open requests."""

    def __init__(self, few: int, cores: int = 1) -> None:
        self._few = few
        self._cores = cores
        self._by_tenant: OrderedDict[str, Share] = OrderedDict()
        self._crowd = Crowd()
        self._looks_at = 0.0
        self._rests_until = 0.0
        self._lines: deque[Share] = deque()
        self._last_turn = 0.0
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
        light = self.compete() and not self.crowds(share, now)
        return share.admitted + 1 <= (max(_LIGHT_OPEN, part) if light else part)

    def refuse(self, tenant: str, now: float) -> None:
        """Counts a refused request of a tenant that is known: its caller waits before it asks again."""
        if (share := self._by_tenant.get(tenant)) is not None:
            share.wanted.add(_REFUSED_SECONDS, now)

    def open_of(self, tenant: str) -> int:
        share = self._by_tenant.get(tenant)
        return share.open if share else 0

    def piles_up(self, share: Share, now: float) -> bool:
        """Whether it is of the crowd, and a few of its requests run or wait already. A newcomer, which has wanted
        nothing yet, piles up with more."""
        if share.competing >= _LIGHT_OPEN and self.compete():
            return True
        return share.admitted >= self._few and self.crowds(share, now)

    def crowds(self, share: Share, now: float) -> bool:
        """Whether it is one of several tenants, and wants too much."""
        if not self.compete():
            return False
        if now >= self._looks_at:
            self._look(now)
        return self._crowd.limit.is_exceeded_by(share.wanted.at(now), share.busy.at(now))

    def occupies(self, share: Share, now: float) -> bool:
        """Whether it is of the crowd, and a request of the crowd runs for a good part of the time."""
        if not self.crowds(share, now) or self._is_owed(share, now):
            return False
        return self._crowd.taken > _OCCUPIED * DECAY_SECONDS and self._crowd.limit.spares_others

    def crowd(self) -> int:
        """Its tenants, as of the last look."""
        return self._crowd.tenants

    def _is_owed(self, share: Share, now: float) -> bool:
        """Whether others that want little each, but much together, take more than it on average."""
        return share.busy.at(now) < self._crowd.others_take

    def _look(self, now: float) -> None:
        """Finds the crowd. Strangers are in no average, or a flood would seem small beside theirs."""
        each = [(share, share.wanted.at(now), share.busy.at(now)) for share in self._by_tenant.values()]
        known = [(wanted, taken) for share, wanted, taken in each if share.tenant != _UNKNOWN]
        limit = limit_of(known, _EACH_CORE * self._cores * DECAY_SECONDS)
        crowd = [(share, taken) for share, wanted, taken in each if limit.is_exceeded_by(wanted, taken)]
        taken = sum(taken for _, taken in crowd)
        others = sum(taken for *_, taken in each) - taken
        all_busy = others > _ALL_BUSY * self._cores * DECAY_SECONDS
        self._crowd = Crowd(
            limit=limit,
            tenants=len(crowd),
            running=sum(share.competing for share, _ in crowd),
            taken=taken,
            others_take=others / (len(each) - len(crowd)) if all_busy else 0.0,
        )
        self._looks_at = now + max(_LOOK_SECONDS, _LOOK_SECONDS_EACH * len(each))

    def run(self, work: Work, now: float) -> None:
        work.share.competing += 1
        work.share.busy.begin(now)
        work.share.wanted.begin(now)

    def pause(self, work: Work, now: float) -> None:
        work.share.competing -= 1
        work.share.busy.end(work.resumed, now)
        work.share.wanted.end(work.resumed - work.rested, now)

    def rest(self, seconds: float, most: float, now: float) -> float:
        """How long a request of the crowd is to do nothing, `most` at most: after the rest of those before it, its own
        `seconds`."""
        self._rests_until = min(max(self._rests_until, now) + seconds, now + _MOST_REST)
        return min(most, self._rests_until - now)

    def wait(self, work: Work, start: Callable[[], None], now: float) -> None:
        work.start, work.resumed = start, now
        work.share.wanted.begin(now)
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
                    self._last_turn = now
                    return work
            else:
                self._lines.append(share)
                left -= 1
        return None

    def _may_go_on(self, share: Share, now: float) -> bool:
        """Whether the first of its line may run beside all others: it starts as many as without a line."""
        if share.competing < _LIGHT_OPEN and not self.crowds(share, now):
            return True
        if share.competing:
            return False
        begun = max(self._last_turn, share.line[0].resumed)
        return self._is_owed(share, now) or (begun + _TURN_SECONDS <= now and not self._crowd.running)

    def _no_longer_waits(self, work: Work, now: float) -> None:
        work.share.wanted.end(work.resumed, now)
        work.share.waiting -= 1
        self.waiting -= 1

    def _forget(self, now: float) -> None:
        for tenant, share in self._by_tenant.items():
            if share.seen > now - _RECENT_SECONDS:
                return
            if not share.open:
                del self._by_tenant[tenant]
                return
            # It comes up again after the others.
            self._by_tenant.move_to_end(tenant)
            return
