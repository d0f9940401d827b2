"""Rows that wait to be written. Pure."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable

from shared.spending.calls import Cost


class Waiting:
    """Tenants take turns, so one whose rows the database does not take holds up no other."""

    def __init__(self, most: int) -> None:
        self._most, self._count = most, 0
        self._rows: dict[str, deque[Cost]] = {}

    def __len__(self) -> int:
        return self._count

    def add(self, tenant: str, costs: Iterable[Cost]) -> int:
        """How many rows are lost because too many wait: the oldest of whoever has most."""
        rows = self._rows.setdefault(tenant, deque())
        before = len(rows)
        rows.extend(costs)
        self._count += len(rows) - before
        lost = 0
        while self._count > self._most:
            max(self._rows.values(), key=len).popleft()
            self._count -= 1
            lost += 1
        return lost

    def take(self, most: int) -> tuple[str, list[Cost]]:
        """The oldest rows of the tenant whose turn it is. It is behind the others then."""
        tenant = next(iter(self._rows))
        rows = self._rows.pop(tenant)
        taken = [rows.popleft() for _ in range(min(most, len(rows)))]
        if rows:
            self._rows[tenant] = rows
        self._count -= len(taken)
        return tenant, taken
