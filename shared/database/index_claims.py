"""Which items a worker leases next: what was just written, or what has waited longest."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import NamedTuple, Protocol

import asyncpg

from shared.database.index_queue import QueueStatements
from shared.database.postgres import EVERY_TENANT, Database
from shared.deadline import Deadline
from shared.embeddings.base import Urgency

BATCH = 32
LEASE_SECONDS = 60
FRESH_CHARACTERS = 4_000
"""The most that a write counts as fresh with: the local model takes a quarter of a second for it."""
_PATIENCE = 10.0
# What is too much for a scope, and for all of them, waits in the queue only.
_FRESH_OF_SCOPE, _FRESH = 32, 4_096


class Claims(Protocol):
    urgency: Urgency

    async def claim(self, database: Database, full: Sequence[str], each: int) -> list[asyncpg.Record]:
        """Leases items of tenants that are not `full`. Answers their `tenant`, `store` and `item_id`.

        Of the backlog, `each` of a tenant at most; of what was just written, `each` together.
        """


class Backlog:
    """A few items of each tenant, in the order of the tenants, and of a tenant those that have waited longest."""

    urgency: Urgency = "backlog"

    def __init__(
        self,
        sql: QueueStatements,
        model: str,
        stores: Sequence[str],
        *,
        most: int = BATCH,
        seconds: float = LEASE_SECONDS,
    ) -> None:
        """It leases at most `most` items at once."""
        self._sql, self._model, self._stores = sql, model, list(stores)
        self._most, self._seconds = most, seconds
        self._last = ""

    async def claim(self, database: Database, full: Sequence[str], each: int) -> list[asyncpg.Record]:
        given = (self._model, self._stores, self._most, self._seconds, self._last, list(full), each)
        claimed: list[asyncpg.Record] = await database.run(
            EVERY_TENANT, lambda c: c.fetch(self._sql.claim, *given), Deadline(_PATIENCE)
        )
        if self._last and not claimed:
            # The last one was the last of all.
            self._last = ""
            return await self.claim(database, full, each)
        # The tenants before the last one are next, unless there was enough to do without them.
        self._last = max((row["tenant"] for row in claimed), default="") if len(claimed) == self._most else ""
        return claimed


class Fresh(NamedTuple):
    """An item that this replica has just written."""

    tenant: str
    scope: str
    store: str
    item_id: int


class JustWritten:
    """What this replica wrote last. Tenants take turns, and so do the scopes of each.

    All of it waits in the queue, too: what is forgotten here is embedded later.
    """

    urgency: Urgency = "fresh"

    def __init__(self, sql: QueueStatements, model: str) -> None:
        self._sql, self._model = sql, model
        self._waiting: dict[str, dict[str, deque[Fresh]]] = {}
        self._count = 0

    def add(self, item: Fresh) -> bool:
        """False when this item, or an older one of its scope, waits in the queue only."""
        if self._count >= _FRESH:
            return False
        own = self._waiting.setdefault(item.tenant, {}).setdefault(item.scope, deque(maxlen=_FRESH_OF_SCOPE))
        held = len(own) < _FRESH_OF_SCOPE
        own.append(item)
        self._count += held
        return held

    def take(self, most: int) -> list[Fresh]:
        taken: list[Fresh] = []
        while self._waiting and len(taken) < most:
            tenant = next(iter(self._waiting))
            scopes = self._waiting.pop(tenant)
            scope = next(iter(scopes))
            items = scopes.pop(scope)
            taken.append(items.popleft())
            # Last of its tenant now, and the tenant last of all.
            scopes |= {scope: items} if items else {}
            self._waiting |= {tenant: scopes} if scopes else {}
        self._count -= len(taken)
        return taken

    async def claim(self, database: Database, full: Sequence[str], each: int) -> list[asyncpg.Record]:
        items = self.take(each)
        if not items:
            return []
        columns = [
            [each.store for each in items],
            [each.tenant for each in items],
            [each.item_id for each in items],
        ]
        claimed: list[asyncpg.Record] = await database.run(
            EVERY_TENANT,
            lambda c: c.fetch(self._sql.claim_these, self._model, *columns, LEASE_SECONDS),
            Deadline(_PATIENCE),
        )
        return claimed
