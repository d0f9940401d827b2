"""Who may do how much at once: tenants share places, and a webhook's pace follows its receiver. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping


class Shares:
    """Places of which each may hold as many as are free, and `each` at most.

    So N who take all they can get hold 1/(N+1) each, and whoever comes next finds a place at once.
    """

    def __init__(self, most: int, each: int) -> None:
        self._free = most
        self._each = each
        self._held: Counter[str] = Counter()

    @property
    def free(self) -> int:
        return self._free

    def room(self, who: str) -> int:
        """How many more it may take now."""
        own = self._held.get(who, 0)
        # Those that it takes are free no longer.
        return max(0, min(self._each - own, (self._free - own + 1) // 2))

    def take(self, who: str) -> None:
        self._free -= 1
        self._held[who] += 1

    def give(self, who: str) -> None:
        self._free += 1
        self._held[who] -= 1
        if not self._held[who]:
            del self._held[who]


class Paces:
    """How many lanes of each webhook are sent at once: one at first, one more after a success, half after a failure."""

    FIRST = 1

    def __init__(self, most: int) -> None:
        self._most = most
        self._known: dict[tuple[str, int], int] = {}

    def told(self, tenant: str, webhook_id: int, *, delivered: bool) -> None:
        pace = self._known.pop((tenant, webhook_id), self.FIRST)
        pace = min(self._most, pace + 1) if delivered else max(self.FIRST, pace // 2)
        # What is at its first pace is not remembered.
        if pace > self.FIRST:
            self._known[tenant, webhook_id] = pace

    def room(self, tenant: str, busy: Mapping[int, int]) -> dict[str, int]:
        """How many lanes more of each webhook, by id as text. Others may begin FIRST. `busy`: lanes being sent."""
        known = {webhook_id for name, webhook_id in self._known if name == tenant}
        return {
            str(webhook_id): max(
                0, self._known.get((tenant, webhook_id), self.FIRST) - busy.get(webhook_id, 0)
            )
            for webhook_id in known | busy.keys()
        }

    def forget(self) -> None:
        self._known.clear()
