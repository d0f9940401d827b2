"""The SQL that erases runs, with what they changed, and how far they are."""

from __future__ import annotations

from shared.database.erasure import Erasure
from shared.database.postgres import Connection

_PURGE = """
with gone as (delete from memory.{table} where tenant = $1 and {column} = $2 returning 1)
select count(*) from gone
"""
_TABLES = ("consolidation_state", "consolidation_file_hashes", "consolidation_runs")
# What a session of a mission teaches about its user lies with the user and stays. The runs go with the session.
_RUNS_OF = """
select r.id from memory.consolidation_runs r
where r.tenant = $1 and (r.scope = $2 or $2 like 'mission:%' and r.mission_id = substr($2, 9))
"""
PURGE_SCOPE = {
    "consolidation_state": f"""
with gone as (
    delete from memory.consolidation_state s where s.tenant = $1 and (s.scope = $2 or s.session_id in (
        select r.session_id from memory.consolidation_runs r where r.tenant = $1 and r.id in ({_RUNS_OF})))
    returning 1
)
select count(*) from gone
""",
    "consolidation_file_hashes": _PURGE.format(table="consolidation_file_hashes", column="scope"),
    "consolidation_runs": f"""
with gone as (
    delete from memory.consolidation_runs d where d.tenant = $1 and d.id in ({_RUNS_OF}) returning 1
)
select count(*) from gone
""",
}
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
