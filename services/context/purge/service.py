"""Runs a purge of a scope, a mission, an agent or a user in every service."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping

from services.context.forwarding.owners import Owner
from services.context.keys.verification import KNOWN_SECONDS, Keys
from services.context.learning.queries import lock
from services.context.log.journal import Journal
from services.context.purge import queries, queries_keys
from services.context.purge.schemas import PurgeInput, Receipt
from services.context.webhooks import purge as webhooks
from shared.auth import Principal
from shared.database import audit
from shared.database.audit import Deed
from shared.database.erasure import SLACK_SECONDS
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.telemetry import tracing


class Purge:
    def __init__(self, database: Database, journal: Journal, owners: Mapping[str, Owner], keys: Keys) -> None:
        self._database = database
        self._journal = journal
        self._owners = owners
        self._keys = keys

    @tracing.memory("delete_memory", "context")
    async def purge(
        self, principal: Principal, request: PurgeInput, deadline: Deadline, request_id: str
    ) -> Receipt:
        """Revokes keys first, because they could write on, and then erases the owners' rows, which hold the data."""
        scope = request.purged
        principal.require_scope(scope)
        _require_reach(principal, request)
        await self._begin(principal, request, deadline)
        erased: dict[str, dict[str, int]] = {}
        for name, owner in self._owners.items():
            erased[name] = await owner.purge(
                scope, request.agent_name, request.user, principal, deadline, request_id
            )
        await self._journal.written(deadline)

        async def erase(connection: Connection) -> dict[str, int]:
            counts = await _erase(connection, principal, request)
            deed = Deed(action="purge", target=scope.partition(":")[0], after={**erased, "context": counts})
            await audit.record(connection, principal, deed)
            return dict(counts)

        erased["context"] = await self._database.transaction(principal.tenant, erase, deadline)
        self._keys.forget()
        return Receipt(scope, erased)

    async def _begin(self, principal: Principal, request: PurgeInput, deadline: Deadline) -> None:
        """Returns when no replica accepts the keys of whom it erases any more."""

        async def work(connection: Connection) -> float | None:
            await queries.begin(connection, principal.tenant, request.purged)
            if (subject := request.subject) is None:
                return None
            return await queries_keys.revoke(connection, principal.tenant, *subject, principal.key)

        seconds = await self._database.transaction(principal.tenant, work, deadline)
        self._keys.forget()
        known = 0.0 if seconds is None else KNOWN_SECONDS - seconds
        # What begins after the purge has been answered must not look as if it had begun before.
        await asyncio.sleep(max(SLACK_SECONDS, known))


async def _erase(c: Connection, principal: Principal, request: PurgeInput) -> Counter[str]:
    """What the context service holds. Returns rows by table."""
    tenant = principal.tenant
    kind, _, name = request.purged.partition(":")
    if request.agent_name is not None:
        await lock(c, tenant, request.agent_name)
    await webhooks.begin(c, tenant)
    counts = await queries.purge(c, queries.PURGE, tenant, request.purged)
    if request.agent_name is not None:
        counts.update(await queries.purge(c, queries.PURGE_AGENT, tenant, request.agent_name))
    if request.user is not None:
        counts.update(await queries.purge_user(c, tenant, request.user))
    if kind == "mission":
        await queries.purge(c, queries.FORGET_MISSION, tenant, name)
    if request.subject is not None:
        counts.update(await queries_keys.erase(c, tenant, *request.subject, principal.key))
    counts.update(await webhooks.erase(c, tenant, request.purged, request.subject))
    counts.update(await queries.forget_audit(c, tenant, request.purged))
    return counts


def _require_reach(principal: Principal, request: PurgeInput) -> None:
    """A purge erases rows of every writer, so the key must reach all of them. Raises Forbidden."""
    if not request.purged.startswith("agent:"):
        principal.require_every_agent()
    if not request.purged.startswith("user:"):
        principal.require_every_user()
    if not request.purged.startswith("mission:"):
        principal.require_every_mission()
