"""Compares the states that a caller knows with those of an owner's stores."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import asyncpg
import msgspec

from shared.auth import Principal
from shared.database.postgres import Database
from shared.deadline import Deadline
from shared.errors import Forbidden
from shared.search.evidence import Candidate
from shared.search.sql import Source, filled
from shared.states.schemas import ChangedPart, KnownPart, States, StatesRequest, What, gone, state_of


class _ToldValues(msgspec.Struct, frozen=True, kw_only=True):
    tenant: str
    items: list[int]
    numbers: list[int]
    whole: list[bool]
    """Given without the number of a chunk: the item is known by its whole text."""
    users: list[str] | None
    missions: list[str] | None
    reader: str | None


class StoreStates:
    """The states of one store. `source` is that of its search, with a `within` that names no scope."""

    def __init__(
        self,
        database: Database,
        source: Source,
        candidate: Callable[[Any], Candidate],
        sees: Callable[[str, asyncpg.Record], bool] = lambda agent, row: True,
    ) -> None:
        """`sees`: whether an agent may still see a row, as far as the key's bounds do not say."""
        self._database = database
        self._candidate = candidate
        self._sees = sees
        self._statement = filled("told", source, _ToldValues)

    async def changed(
        self, principal: Principal, agent: str, known: Sequence[KnownPart], deadline: Deadline
    ) -> list[ChangedPart]:
        values = _ToldValues(
            tenant=principal.tenant,
            items=[part.id for part in known],
            numbers=[part.chunk or 0 for part in known],
            whole=[part.chunk is None for part in known],
            users=principal.seen_users(),
            missions=principal.seen_missions(),
            reader=principal.agent,
        )
        arguments = [getattr(values, name) for name in self._statement.parameters]
        rows: list[asyncpg.Record] = await self._database.run(
            principal.tenant, lambda c: c.fetch(self._statement.sql, *arguments), deadline
        )
        seen = {
            (row["item_id"], row["chunk"], row["whole"]): row
            for row in rows
            if self._sees(agent, row) and _reaches(principal, row["scope"])
        }
        compared = (
            self._compared(part, seen.get((part.id, part.chunk or 0, part.chunk is None))) for part in known
        )
        return [part for part in compared if part is not None]

    def _compared(self, known: KnownPart, row: asyncpg.Record | None) -> ChangedPart | None:
        if row is None:
            return gone(known)
        candidate = self._candidate(row)
        text, by = row["whole_text"] or candidate.text, candidate.superseded_by
        state = state_of(text, by)
        if state == known.state:
            return None
        said = known.state.partition(" ")[0] == state.partition(" ")[0]
        what: What = "superseded" if said and by is not None else "edited"
        return ChangedPart(id=known.id, chunk=known.chunk, what=what, state=state, text=text, by=by)


def _reaches(principal: Principal, scope: str) -> bool:
    """Another agent's scope is open to a key of one agent: what its owner shares."""
    if scope.startswith("agent:"):
        return True
    try:
        principal.require_scope(scope)
    except Forbidden:
        return False
    return True


class Comparing(Protocol):
    """Compares the states of one store."""

    async def changed(
        self, principal: Principal, agent: str, known: Sequence[KnownPart], deadline: Deadline
    ) -> list[ChangedPart]: ...


class OwnerStates:
    """The states of an owner's stores, by their names. A store that it does not know has no changes."""

    def __init__(self, stores: Mapping[str, Comparing]) -> None:
        self._stores = stores

    async def changed(self, principal: Principal, request: StatesRequest, deadline: Deadline) -> States:
        """Raises Forbidden for another agent than that of the key."""
        principal.require_agent(request.agent)
        names = [name for name in request.stores if name in self._stores]
        changed = await asyncio.gather(
            *(
                self._stores[name].changed(principal, request.agent, request.stores[name], deadline)
                for name in names
            )
        )
        return States(dict(zip(names, changed, strict=True)))
