"""The rules of sessions: who begins one, how it ends, and who erases it."""

from __future__ import annotations

import secrets
from uuid import UUID, uuid4

import asyncpg
import msgspec

from services.cache.sessions import queries
from services.cache.sessions.access import Reach, require_change, require_parties, scope_of
from services.cache.sessions.purge import forget_sources
from services.cache.sessions.schemas import (
    CompleteSessionInput,
    CreatedSession,
    CreateSessionInput,
    DeletedSession,
    Session,
    SessionCursor,
    Sessions,
    Status,
)
from services.cache.sessions.transactions import Held, SessionTransactions
from shared.auth import Principal
from shared.database.idempotency import Key
from shared.database.postgres import Connection
from shared.deadline import Deadline
from shared.errors import Conflict, NotFound
from shared.paging.pages import page_of

# Letters and digits take turns, so that a nonce is no word and no number. No text holds all of them.
_LETTERS, _DIGITS, _MARKS = "bcdfghjkmnpqrstvwxz", "23456789", 40
_PARTIES = ("agent_name", "mission_id", "user_id")


class _Made(msgspec.Struct):
    id: UUID
    created: bool


class _Closed(msgspec.Struct):
    id: UUID


class SessionService:
    def __init__(self, transactions: SessionTransactions) -> None:
        self._transactions = transactions

    async def create(
        self, principal: Principal, wanted: CreateSessionInput, key: Key | None, deadline: Deadline
    ) -> CreatedSession:
        """The session of the external id, if there is one. Raises Conflict if that belongs to others."""
        require_parties(principal, wanted.agent_name, wanted.mission_id, wanted.user_id)
        scope = scope_of(wanted.agent_name, wanted.mission_id, wanted.user_id)
        columns = _columns(principal, wanted, scope)

        async def work(c: Connection) -> _Made:
            row = await queries.create(c, principal.tenant, columns)
            if row is not None:
                return _Made(row["id"], created=True)
            return _Made(await _same(c, principal, wanted), created=False)

        if key is not None:
            key = key.about([wanted.agent_name], [wanted.user_id], [wanted.mission_id])
        made = await self._transactions.once(principal.tenant, scope, _Made, work, key, deadline)
        return CreatedSession(await self.get(principal, str(made.id), deadline), made.created)

    async def get(self, principal: Principal, session: str, deadline: Deadline) -> Session:
        row = await self._transactions.database.run(
            principal.tenant,
            lambda c: queries.find(c, principal.tenant, Reach.of(principal), session),
            deadline,
        )
        if row is None:
            raise NotFound(f"no session {session!r}")
        return Session.from_row(row)

    async def list_sessions(
        self,
        principal: Principal,
        deadline: Deadline,
        *,
        agent_name: str | None,
        mission_id: str | None,
        user_id: str | None,
        status: Status | None,
        cursor: str | None,
        limit: int,
    ) -> Sessions:
        _require_filters(principal, agent_name, mission_id, user_id)
        before = SessionCursor.read(cursor)
        rows = await self._transactions.database.run(
            principal.tenant,
            lambda c: queries.list_sessions(
                c,
                principal.tenant,
                Reach.of(principal),
                agent_name=agent_name,
                mission_id=mission_id,
                user_id=user_id,
                status=status,
                before=before,
                limit=limit + 1,
            ),
            deadline,
        )
        page = page_of(rows, limit, lambda row: SessionCursor(created_at=row["created_at"], id=row["id"]))
        return Sessions([Session.from_row(row) for row in page.rows], page.next)

    async def complete(
        self,
        principal: Principal,
        session: str,
        ending: CompleteSessionInput,
        key: Key | None,
        deadline: Deadline,
    ) -> Session:
        """Raises Conflict when it is closed."""

        async def work(c: Connection, held: Held) -> _Closed:
            closed = await queries.close(c, held.tenant, held.id, ending.status)
            if ending.consolidate:
                await queries.want_consolidation(c, held.tenant, [held.id])
            return _Closed(closed["id"])

        closed = await self._transactions.write(principal, session, _Closed, work, key, deadline)
        return await self.get(principal, str(closed.id), deadline)

    async def delete(self, principal: Principal, session: str, deadline: Deadline) -> DeletedSession:
        async def work(c: Connection, held: Held) -> DeletedSession:
            await queries.delete(c, held.tenant, held.id, [str(held.id), held.external_id])
            await forget_sources(c, held.tenant, [held.id])
            return DeletedSession(held.id)

        return await self._transactions.write(
            principal, session, DeletedSession, work, None, deadline, closed=True
        )


def _columns(principal: Principal, wanted: CreateSessionInput, scope: str) -> dict[str, object]:
    signs, session_id = (_LETTERS, _DIGITS), str(uuid4())
    return {
        "id": session_id,
        "external_id": wanted.external_id or session_id,
        "scope": scope,
        **{name: getattr(wanted, name) for name in _PARTIES},
        "model": wanted.model or "",
        "config": msgspec.to_builtins(wanted.config),
        "marks": "".join(secrets.choice(signs[place % 2]) for place in range(_MARKS)),
        "written_by": principal.key,
    }


async def _same(c: Connection, principal: Principal, wanted: CreateSessionInput) -> UUID:
    """The session that has the external id already. Raises Conflict where it is another's."""
    assert wanted.external_id is not None  # no other id was taken before
    row = await queries.find(c, principal.tenant, Reach.of(principal), wanted.external_id)
    if row is None or row["external_id"] != wanted.external_id or not _is_of(row, wanted):
        raise Conflict(f"another session has the external id {wanted.external_id!r}")
    require_change(principal, written_by=row["written_by"], user_id=row["user_id"])
    session_id: UUID = row["id"]
    return session_id


def _is_of(row: asyncpg.Record, wanted: CreateSessionInput) -> bool:
    return all(row[name] == getattr(wanted, name) for name in _PARTIES)


def _require_filters(
    principal: Principal, agent_name: str | None, mission_id: str | None, user_id: str | None
) -> None:
    """Raises Forbidden for one that the key has no grant for."""
    principal.require_agent(agent_name)
    principal.require_user(user_id)
    if mission_id is not None:
        principal.require_mission(mission_id)
