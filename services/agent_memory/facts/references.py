"""Which scopes a scope refers to, for assembly.

A reference is a fact of a mission or a project, in its own scope: `mission:a`, `refers to`, `mission:b`. So whoever may
write there decides. What tools and documents state is none.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from services.agent_memory.facts import queries, queries_graph
from services.agent_memory.facts.names import entity_key
from services.agent_memory.facts.schemas_reading import References
from shared.auth import Principal
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.provenance import utc

PREDICATE = "refers to"
_KINDS = ("mission:", "project:")
_MOST = 5
# More rows are read, because some lead nowhere.
_READ = 50


class ReferenceReader:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def of(
        self, principal: Principal, scopes: Sequence[str], as_of: datetime | None, deadline: Deadline
    ) -> References:
        """The newest references of the scopes, to scopes that are not among them."""
        seen, tenant = queries.bounds(principal), principal.tenant
        keys, at = [entity_key(scope) for scope in scopes], utc(as_of, "as_of")

        async def work(c: Connection) -> References:
            rows = await queries_graph.references(c, tenant, seen, scopes, keys, PREDICATE, at, _READ)
            known = bool(rows) or await queries_graph.has_references(c, tenant, PREDICATE)
            # A name of a mission is compared with its case, an entity's without.
            led = [row["object"].strip() for row in rows if row["subject"].strip() == row["scope"]]
            return References(_others(led, scopes), any=known)

        return await self._database.run(tenant, work, deadline)


def _others(led: Sequence[str], scopes: Sequence[str]) -> list[str]:
    others = (scope for scope in dict.fromkeys(led) if scope.startswith(_KINDS) and scope not in scopes)
    return list(others)[:_MOST]
