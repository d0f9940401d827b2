"""Runs a purge in every service."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from services.context.forwarding.owners import Owner
from services.context.log.journal import Journal
from services.context.purge import queries
from services.context.purge.schemas import PurgeInput, Receipt
from shared.auth import Principal
from shared.database import audit
from shared.database.audit import Deed
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.telemetry import tracing


class Purge:
    def __init__(self, database: Database, journal: Journal, owners: Mapping[str, Owner]) -> None:
        self._database = database
        self._journal = journal
        self._owners = owners

    @tracing.memory("delete_memory", "context")
    async def purge(
        self, principal: Principal, request: PurgeInput, deadline: Deadline, request_id: str
    ) -> Receipt:
        """Erases the owners' rows first, because they hold the data."""
        scope = request.purged
        principal.require_scope(scope)
        _require_reach(principal, request)
        erased: dict[str, dict[str, int]] = {}
        for name, owner in self._owners.items():
            erased[name] = await owner.purge(
                scope, request.agent_name, request.user, principal, deadline, request_id
            )
        await self._journal.written(deadline)

        async def erase(connection: Connection) -> dict[str, int]:
            counts: Counter[str] = Counter()
            for given, statements in (
                (scope, queries.PURGE),
                (request.agent_name, queries.PURGE_AGENT),
                (request.user, queries.PURGE_USER),
            ):
                for table, statement in statements if given is not None else ():
                    done = await connection.execute(statement, principal.tenant, given)
                    counts[table] += int(done.rsplit(" ", 1)[-1])
            counts["audit"] += await queries.forget_audit(connection, principal.tenant, scope)
            after = {**erased, "context": dict(counts)}
            deed = Deed(action="purge", target=scope.partition(":")[0], after=after)
            await audit.record(connection, principal, deed)
            return dict(counts)

        erased["context"] = await self._database.transaction(principal.tenant, erase, deadline)
        return Receipt(scope, erased)


def _require_reach(principal: Principal, request: PurgeInput) -> None:
    """A purge erases rows of every writer, so the key must reach all of them. Raises Forbidden."""
    if not request.purged.startswith("agent:"):
        principal.require_every_agent()
    if not request.purged.startswith("user:"):
        principal.require_every_user()
    if not request.purged.startswith("mission:"):
        principal.require_every_mission()
