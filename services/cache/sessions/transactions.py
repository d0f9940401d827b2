"""Runs work on one session: found for reads, and held for writes, which take turns."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar
from uuid import UUID

import asyncpg
import msgspec

from services.cache.keyed_writes import KeyedWrites
from services.cache.sessions import queries
from services.cache.sessions.access import Reach, as_uuid, require_change
from services.cache.sessions.schemas import SessionConfig
from shared.auth import Principal
from shared.database.doorbell import Doorbell
from shared.database.idempotency import Key
from shared.database.postgres import Connection, Database
from shared.database.tenancy import Look
from shared.deadline import Deadline
from shared.errors import Conflict, NotFound

T = TypeVar("T")
Answer = TypeVar("Answer", bound=msgspec.Struct)


class Held(msgspec.Struct, frozen=True, kw_only=True):
    """A session that the transaction holds."""

    tenant: str
    id: UUID
    external_id: str
    status: str
    scope: str
    key: str
    """The key that writes."""
    config: SessionConfig
    goal: str | None
    marks: str
    turn: int
    last_seq: int
    last_place: int

    @classmethod
    def of(cls, principal: Principal, row: asyncpg.Record) -> Held:
        own = {name: row[name] for name in ("id", "external_id", "status", "scope", "goal", "marks")}
        return cls(
            **own,
            tenant=principal.tenant,
            key=principal.key,
            config=msgspec.convert(row["config"], SessionConfig),
            turn=row["total_turns"],
            last_seq=row["last_seq"],
            last_place=row["last_place"],
        )


class SessionTransactions:
    """After a commit, it rings the timeline's doorbell."""

    def __init__(self, database: Database, keyed: KeyedWrites, doorbell: Doorbell) -> None:
        self.database = database
        self._keyed = keyed
        self._doorbell = doorbell

    async def read(
        self,
        principal: Principal,
        session: str,
        work: Callable[[Connection, Held], Awaitable[T]],
        deadline: Deadline,
    ) -> T:
        """Raises NotFound for a session that the key does not reach."""

        async def found(c: Connection) -> T:
            row = await queries.find(c, principal.tenant, Reach.of(principal), session)
            return await work(c, Held.of(principal, _known(row, session)))

        return await self.database.run(principal.tenant, found, deadline)

    async def look(
        self, principal: Principal, session: str, query: Look, deadline: Deadline
    ) -> list[asyncpg.Record]:
        """The rows of a query of the tenant $1 and of the session that $2 to $6 name, in one round trip.

        The query has a row for each session that there is. Raises NotFound for one that the key does not reach.
        """
        named = *Reach.of(principal), as_uuid(session), session
        rows = await self.database.look(principal.tenant, query, named, deadline)
        _known(rows[0] if rows else None, session)
        return rows

    async def write(
        self,
        principal: Principal,
        session: str,
        kind: type[Answer],
        work: Callable[[Connection, Held], Awaitable[Answer]],
        key: Key | None,
        deadline: Deadline,
        *,
        status: int = 200,
        closed: bool = False,
    ) -> Answer:
        """Once per key. Raises NotFound, Forbidden; Conflict for a closed session unless `closed` allows it."""

        async def held(c: Connection) -> Answer:
            row = _known(await queries.hold(c, principal.tenant, Reach.of(principal), session), session)
            require_change(principal, written_by=row["written_by"], user_id=row["user_id"])
            own = Held.of(principal, row)

            async def change() -> Answer:
                if own.status != "active" and not closed:
                    raise Conflict(f"session {session!r} is {own.status}")
                return await work(c, own)

            if key is None:
                return await change()
            about = key.about([row["agent_name"]], [row["user_id"]], [row["mission_id"]])
            return await self._keyed.records.once(c, own.tenant, own.scope, about, kind, change, status)

        answer = await self.database.transaction(principal.tenant, held, deadline)
        self._doorbell.ring(principal.tenant)
        return answer

    async def run(self, tenant: str, work: Callable[[Connection], Awaitable[T]], deadline: Deadline) -> T:
        """For writes that no single session covers."""
        result = await self.database.transaction(tenant, work, deadline)
        self._doorbell.ring(tenant)
        return result

    async def once(
        self,
        tenant: str,
        scope: str,
        kind: type[Answer],
        work: Callable[[Connection], Awaitable[Answer]],
        key: Key | None,
        deadline: Deadline,
        *,
        status: int = 201,
    ) -> Answer:
        """As `run`, but only once per key."""

        async def keyed(c: Connection) -> Answer:
            assert key is not None
            return await self._keyed.records.once(c, tenant, scope, key, kind, lambda: work(c), status)

        return await self.run(tenant, work if key is None else keyed, deadline)


def _known(row: asyncpg.Record | None, session: str) -> asyncpg.Record:
    if row is None:
        raise NotFound(f"no session {session!r}")
    return row
