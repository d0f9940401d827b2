"""Keeps what calls of the helper model took for a session."""

from __future__ import annotations

import msgspec

from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.llm import Spent

_SECONDS = 5.0


class Cost(msgspec.Struct, kw_only=True):
    kind: str
    model: str
    input_tokens: int
    output_tokens: int
    cache_read_tokens: int
    cache_write_tokens: int
    scope: str = "shared"
    agent_name: str | None = None
    mission_id: str | None = None
    session_id: str | None = None


_STATED = ", ".join(Cost.__struct_fields__)
# $2 the session. It is held, so that a purge of it does not miss the row.
SESSION = """
select s.scope, s.agent_name, s.mission_id, s.id::text as session_id from sessions.sessions s
where s.tenant = $1 and s.id = $2 for key share
"""
# $2 the Cost.
SPENT = f"""
insert into timeline.costs (tenant, service, {_STATED})
select $1, 'cache', {", ".join(f"r.{name}" for name in Cost.__struct_fields__)}
from jsonb_populate_record(null::timeline.costs, $2) r
"""


class SessionCosts:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(self, spent: Spent) -> None:
        """Of a session that is gone, only the tokens."""
        cost = Cost(
            kind=spent.purpose,
            model=spent.model,
            input_tokens=spent.tokens.input,
            output_tokens=spent.tokens.output,
            cache_read_tokens=spent.tokens.cache_read,
            cache_write_tokens=spent.tokens.cache_write,
        )

        async def work(c: Connection) -> None:
            session = await c.fetchrow(SESSION, spent.tenant, spent.session_id)
            named = cost if session is None else msgspec.structs.replace(cost, **session)
            await c.execute(SPENT, spent.tenant, named)

        await self._database.run(spent.tenant, work, Deadline(_SECONDS))
