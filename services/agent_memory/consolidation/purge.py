"""The SQL that erases runs, with what they changed, and how far they are."""

from __future__ import annotations

from shared.database.erasure import Erasure
from shared.database.postgres import Connection

_PURGE = """
with gone as (delete from memory.{table} where tenant = $1 and {column} = $2 returning 1)
select count(*) from gone
"""
_TABLES = ("consolidation_state", "consolidation_file_hashes", "consolidation_runs")
PURGE_SCOPE = {table: _PURGE.format(table=table, column="scope") for table in _TABLES}
PURGE_USER = {table: _PURGE.format(table=table, column="user_id") for table in _TABLES}
PURGE_AGENT = {
    table: _PURGE.format(table=table, column="agent_name")
    for table in ("consolidation_state", "consolidation_runs")
}


async def purge_user(c: Connection, tenant: str, user_id: str) -> dict[str, int]:
    return {table: await c.fetchval(statement, tenant, user_id) for table, statement in PURGE_USER.items()}


async def purge_agent(c: Connection, tenant: str, agent_name: str) -> dict[str, int]:
    return {
        table: await c.fetchval(statement, tenant, agent_name) for table, statement in PURGE_AGENT.items()
    }


CONSOLIDATION = Erasure(scope=PURGE_SCOPE, user=purge_user, agent=purge_agent)
