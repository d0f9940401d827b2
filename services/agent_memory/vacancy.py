"""Answers searches of tenants that have nothing in a store, which most tenants' stores of some kind do not."""

from __future__ import annotations

from shared.database.postgres import Database
from shared.database.tenancy import look
from shared.deadline import Deadline

_MOST = 20_000


class Vacancy:
    """The tenants for which a search found nothing to search.

    Before a search is left out, Postgres says whether the tenant still has nothing: a write that committed before the
    search is never missed. Where a tenant has something, nothing is asked. `holds` is a query whose one value says
    whether the tenant $1 has anything in the store.
    """

    def __init__(self, database: Database, holds: str) -> None:
        self._database = database
        self._holds = look(holds)
        self._empty: set[str] = set()

    def suspect(self, tenant: str) -> None:
        """A search found nothing to search; the tenant may have something in other scopes."""
        if len(self._empty) >= _MOST:
            self._empty.clear()
        self._empty.add(tenant)

    async def is_empty(self, tenant: str, deadline: Deadline) -> bool:
        if tenant not in self._empty:
            return False
        (row,) = await self._database.look(tenant, self._holds, (), deadline)
        if row["exists"]:
            self._empty.discard(tenant)
            return False
        return True
