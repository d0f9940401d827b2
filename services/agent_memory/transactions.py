"""Runs writes in transactions, and announces them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

import msgspec

from shared.auth import Principal
from shared.database.doorbell import Doorbell
from shared.database.idempotency import Key, Records
from shared.database.indexer import Indexer
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline

T = TypeVar("T")
Answer = TypeVar("Answer", bound=msgspec.Struct)


class Transactions:
    """After a commit, it rings the timeline's doorbell and wakes the indexer."""

    def __init__(self, database: Database, records: Records, doorbell: Doorbell, indexer: Indexer) -> None:
        self._database = database
        self.records = records
        self._doorbell = doorbell
        self._indexer = indexer

    async def run(self, tenant: str, work: Callable[[Connection], Awaitable[T]], deadline: Deadline) -> T:
        result = await self._database.transaction(tenant, work, deadline)
        self.announce(tenant)
        return result

    async def call(
        self,
        tenant: str,
        work: Callable[[Connection], Awaitable[T | None]],
        deadline: Deadline,
        *,
        queues: bool = True,
    ) -> T | None:
        """Runs a single call of a function that writes. None means that it wrote nothing. `queues` says whether it may
        leave anything to the indexer."""
        result = await self._database.call(work, deadline)
        if result is not None:
            self.announce(tenant, queues)
        return result

    async def once(
        self,
        principal: Principal,
        scope: str,
        kind: type[Answer],
        work: Callable[[Connection], Awaitable[Answer]],
        key: Key | None,
        deadline: Deadline,
        *,
        status: int = 201,
        queues: bool = True,
    ) -> Answer:
        """As `run`, but only once per key. A purge of `scope` erases the key's record. `queues` as for `call`."""

        async def keyed(c: Connection) -> Answer:
            assert key is not None
            return await self.records.once(
                c, principal.tenant, scope, key, kind, lambda: work(c), status=status
            )

        answer = await self._database.transaction(principal.tenant, work if key is None else keyed, deadline)
        self.announce(principal.tenant, queues)
        return answer

    def announce(self, tenant: str, queues: bool = True) -> None:
        self._doorbell.ring(tenant)
        if queues:
            self._indexer.wake()
