"""Answers searches of stores that hold no memories, which most agents' stores do not. Includes the SQL."""

from __future__ import annotations

from typing import NamedTuple

from services.agent_memory.memories.queries_search import EVERY_AGENT
from shared.database.postgres import Database
from shared.database.tenancy import look
from shared.deadline import Deadline
from shared.search.evidence import StoreResult

_MOST = 20_000

HOLDINGS = """
select exists (select from memory.agent_memory where tenant = $1 and agent_name = $2) as own,
       exists (select from memory.agent_memory where tenant = $1) as everyones
"""
_LOOK = look(HOLDINGS)


class Holdings(NamedTuple):
    """Whether there are memories of an agent, and of any agent of its tenant."""

    own: bool
    everyones: bool


async def holdings(database: Database, tenant: str, agent: str, deadline: Deadline) -> Holdings:
    (row,) = await database.look(tenant, _LOOK, [agent], deadline)
    return Holdings(own=row["own"], everyones=row["everyones"])


class Vacancies:
    """The scopes that were empty when they were last searched.

    Before it answers for one of them, it asks Postgres whether that still holds: a write that committed before the
    search is never missed. Where a scope held something, nothing is asked.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._empty: set[tuple[str, str]] = set()

    def learn(self, tenant: str, agent: str, result: StoreResult) -> None:
        """`agent` is EVERY_AGENT for a search of a whole tenant."""
        if result.documents:
            self._empty.discard((tenant, agent))
            return
        if len(self._empty) >= _MOST:
            self._empty.clear()
        self._empty.add((tenant, agent))

    async def now(self, tenant: str, agent: str, deadline: Deadline) -> Holdings:
        """What may hold something. Nothing is asked unless one of both was empty."""
        empty = Holdings((tenant, agent) in self._empty, (tenant, EVERY_AGENT) in self._empty)
        if not any(empty):
            return Holdings(own=True, everyones=True)
        held = await holdings(self._database, tenant, agent, deadline)
        return Holdings(own=held.own or not empty.own, everyones=held.everyones or not empty.everyones)
