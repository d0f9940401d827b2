"""Builds the HNSW index tenant by tenant: only large tenants are searched through it, and only they pay for it."""

from __future__ import annotations

import asyncio
import time
from datetime import timedelta

from services.agent_memory.vector_index import queries
from shared.concurrency.tasks import every
from shared.database.postgres import EVERY_TENANT, Connection, Database
from shared.deadline import Deadline
from shared.search.store import Scope

_EVERY_SECONDS = 30.0
# A batch takes some 40 ms of a core, and others then have it three times as long.
_BATCH, _REST = 20, 3
_PATIENCE = 30.0
# Longer than any transaction takes.
_SETTLING = timedelta(minutes=2)


class VectorIndex:
    def __init__(self, database: Database, settling: timedelta = _SETTLING) -> None:
        """`settling` is longer than a transaction that stores a vector may take."""
        self._database = database
        self._settling = settling
        self._wanted: set[str] = set()
        # Until an upgrade is over, the release before stores vectors outside of the index.
        self._first = True

    async def covers(self, c: Connection, scope: Scope) -> bool:
        """Whether the index holds all vectors of the scope's tenant. If not, it is built in the background."""
        if await queries.is_complete(c, scope.tenant):
            return True
        self._wanted.add(scope.tenant)
        return False

    async def build_forever(self) -> None:
        await every(_EVERY_SECONDS, "indexing vectors", self.build)

    async def build(self) -> None:
        """Indexes what the tenants have that are not covered yet. Replicas share the work."""
        while self._wanted:
            await self._add(self._wanted.pop())
        first, self._first = self._first, False
        tenants = await self._database.run(
            EVERY_TENANT, lambda c: queries.tenants(c, complete=first), Deadline(_PATIENCE)
        )
        for tenant in tenants:
            await self._build(tenant)

    async def _add(self, tenant: str) -> None:
        await self._database.run(tenant, lambda c: queries.add(c, tenant), Deadline(_PATIENCE))

    async def _build(self, tenant: str) -> None:
        last: int | None = 0
        while last is not None:
            begun = time.monotonic()
            last = await self._index(tenant, last)
            await asyncio.sleep(_REST * (time.monotonic() - begun))
        await self._database.run(
            tenant, lambda c: queries.complete(c, tenant, self._settling), Deadline(_PATIENCE)
        )

    async def _index(self, tenant: str, first: int) -> int | None:
        return await self._database.run(
            tenant, lambda c: queries.index(c, tenant, first, _BATCH), Deadline(_PATIENCE)
        )
