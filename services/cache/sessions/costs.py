"""Keeps what calls of the helper model took for a session."""

from __future__ import annotations

import msgspec

from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.llm import Spent

_SECONDS = 5.0
# $2 the session, $3 the cost. The session is held, so that a purge of it does not miss the row; of one that is gone
# only the tokens are kept.
SPENT = """
with s as materialized (
    select s.tenant, s.scope, s.agent_name, s.mission_id, s.id from sessions.sessions s
    where s.tenant = $1 and s.id = $2 for key share
)
insert into timeline.costs (tenant, scope, service, kind, model, agent_name, mission_id, session_id,
                            input_tokens, output_tokens, cache_read_tokens, cache_write_tokens)
select $1, coalesce(s.scope, 'shared'), 'cache', r.kind, r.model, s.agent_name, s.mission_id, s.id::text,
       r.input, r.output, r.cache_read, r.cache_write
from jsonb_to_record($3) r(kind text, model text, input bigint, output bigint, cache_read bigint, cache_write bigint)
left join s on s.tenant = $1
"""


class Cost(msgspec.Struct):
    kind: str
    model: str
    input: int
    output: int
    cache_read: int
    cache_write: int


class SessionCosts:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(self, spent: Spent) -> None:
        cost = Cost(spent.purpose, spent.model, *spent.tokens)

        async def work(c: Connection) -> None:
            await c.execute(SPENT, spent.tenant, spent.session_id, cost)

        await self._database.run(spent.tenant, work, Deadline(_SECONDS))
