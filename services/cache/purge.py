"""Erases a scope, what an agent wrote, or what is about a user."""

from __future__ import annotations

from collections import Counter

from services.cache import queries_purge
from services.cache.checkpoints import purge as checkpoints
from services.cache.entries.query_log import QueryLog
from services.cache.persistent import purge as persistent
from services.cache.sessions import purge as sessions
from shared.auth import Principal
from shared.database.erasure import ROWS_AT_ONCE
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.review.reviews import Reviews
from shared.telemetry import tracing


class Purge:
    def __init__(self, database: Database, query_log: QueryLog, reviews: Reviews) -> None:
        self._database = database
        self._query_log = query_log
        self._reviews = reviews

    @tracing.memory("delete_memory", "cache")
    async def purge(
        self, principal: Principal, scope: str, agent: str | None, user_id: str | None, deadline: Deadline
    ) -> dict[str, int]:
        """Erases a scope, and in every mission what `agent` wrote and what is about `user_id`. Returns counts."""
        # The context service purges events afterwards, so the events of queries must be written by then.
        await self._query_log.flush()

        async def erase(connection: Connection) -> dict[str, int]:
            tenant = principal.tenant
            counts = Counter(
                {"reviews": await self._reviews.purge(connection, tenant, _named(scope, agent, user_id))}
            )
            counts.update(await queries_purge.purge_scope(connection, tenant, scope))
            counts.update(await sessions.purge_scope(connection, tenant, scope))
            counts.update(await persistent.purge_scope(connection, tenant, scope))
            counts.update(await checkpoints.purge_scope(connection, tenant, scope))
            if agent is not None:
                counts.update(await queries_purge.purge_agent(connection, tenant, agent))
                counts.update(await sessions.purge_agent(connection, tenant, agent))
                counts.update(await persistent.purge_agent(connection, tenant, agent))
                counts.update(await checkpoints.purge_agent(connection, tenant, agent))
            if user_id is not None:
                counts.update(await queries_purge.purge_user(connection, tenant, user_id))
                counts.update(await sessions.purge_user(connection, tenant, user_id))
                counts.update(await persistent.purge_user(connection, tenant, user_id))
                counts.update(await checkpoints.purge_user(connection, tenant, user_id))
            return dict(counts)

        return await self._database.transaction(principal.tenant, erase, deadline)

    async def purge_tenant(self, principal: Principal, deadline: Deadline) -> dict[str, int]:
        """Erases a part of the tenant. Returns counts, all 0 when nothing is left."""
        principal.require_unbounded()
        await self._query_log.flush()
        return await self._database.transaction(
            principal.tenant,
            lambda c: queries_purge.erase_tenant(c, principal.tenant, ROWS_AT_ONCE),
            deadline,
        )


def _named(scope: str, agent: str | None, user_id: str | None) -> list[str]:
    """The scope, and those of whom it erases everywhere."""
    named = {"agent": agent, "user": user_id}
    return [scope, *(f"{kind}:{name}" for kind, name in named.items() if name is not None)]
