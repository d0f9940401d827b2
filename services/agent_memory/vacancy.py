"""Answers searches of tenants that have nothing in a store, which most tenants' stores of some kind do not."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from shared.database.postgres import Connection, Database
from shared.deadline import Deadline

_MOST = 20_000

Holds = Callable[[Connection, str], Awaitable[bool]]
"""Whether the tenant has anything in the store."""


class Vacancy:
    """The tenants for which a search found nothing to search.

    Before a search is left out, Postgres says whether the tenant still has nothing: a write that committed before the
    search is never missed. Where a tenant has something, nothing is asked.
    """

    def __init__(self, database: Database, holds: Holds) -> None:
        self._database = database
        self._holds = holds
        self._empty: set[str] = set()

    def suspect(self, tenant: str) -> None:
        """A search found nothing to search; the tenant may have something in other scopes."""
        if len(self._empty) >= _MOST:
            self._empty.clear()
        self._empty.add(tenant)

    async def is_empty(self, tenant: str, deadline: Deadline) -> bool:
        if tenant not in self._empty:
            return False
        if await self._database.run(tenant, lambda c: self._holds(c, tenant), deadline):
            self._empty.discard(tenant)
            return False
        return True
