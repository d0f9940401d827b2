"""Keeps what calls of the helper model took for a session, and knows the ceilings of who pays for them."""

from __future__ import annotations

from uuid import UUID

import asyncpg
import msgspec

from shared import costs
from shared.costs import Ledger
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.errors import AppError
from shared.llm import Spent
from shared.spending import Cost, Payer, payer_of

_SECONDS = 5.0
_LOOK_SECONDS = 1.0
# Longer than a call takes: a purge may have begun while it was under way.
_CALL_SECONDS = 60.0

# $2 the session. It is held, so that a purge of it does not miss the row.
SESSION = """
select s.scope, s.agent_name, s.mission_id, s.id::text as session_id, s.written_by from sessions.sessions s
where s.tenant = $1 and s.id = $2 for key share
"""


class SessionCosts:
    def __init__(self, database: Database, books: Ledger) -> None:
        self._database, self._books = database, books

    async def record(self, spent: Spent) -> None:
        """Of a session that is gone, only the tokens."""
        cost = costs.costed(
            self._books.prices, spent.purpose, spent.model, spent.tokens, spent.outcome, spent.sent
        )
        self._books.count(cost)
        key = payer_of(spent.tenant).key

        async def work(c: Connection) -> None:
            session = await c.fetchrow(SESSION, spent.tenant, spent.session_id)
            await costs.record(c, spent.tenant, [_of(cost, session, key)], "cache", _CALL_SECONDS)

        await self._database.run(spent.tenant, work, Deadline(_SECONDS))

    async def reached(self, tenant: str, session_id: UUID | None) -> str | None:
        """The ceiling that the session's mission, or who asks, has reached. Background work is its key's."""
        try:
            session = await self._database.run(
                tenant, lambda c: c.fetchrow(SESSION, tenant, session_id), Deadline(_LOOK_SECONDS)
            )
        except AppError as error:
            return f"unknown: {error.detail}"
        key = payer_of(tenant).key
        if session is None:
            return await self._books.reached_by(Payer(tenant, key))
        return await self._books.reached_by(
            Payer(tenant, key or session["written_by"], mission=session["mission_id"])
        )


def _of(cost: Cost, session: asyncpg.Record | None, key: str | None) -> Cost:
    if session is None:
        return msgspec.structs.replace(cost, key=key)
    return msgspec.structs.replace(
        cost,
        scope=session["scope"],
        agent_name=session["agent_name"],
        mission_id=session["mission_id"],
        session_id=session["session_id"],
        key=key or session["written_by"],
    )
