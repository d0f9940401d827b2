"""The SQL that erases files: those of a folder's scope, and those of a user's folder."""

from __future__ import annotations

from services.agent_memory.vault.queries_write import STORE
from shared.database.erasure import Erasure
from shared.database.postgres import Connection

_GONE = f"""), unqueued as (
    delete from memory.index_queue q using gone
    where q.tenant = $1 and q.store = '{STORE}' and q.item_id = gone.id
)
select count(*) from gone
"""
PURGE_FILES = f"""
with gone as (
    delete from memory.files where tenant = $1 and scope = $2 returning id
{_GONE}"""
# What another agent, mission or user keeps stays, without the agent that wrote it.
FORGET_AGENT = """
update memory.files set agent_name = null
where tenant = $1 and $2 like 'agent:%' and agent_name = substr($2, 7)
"""
PURGE_USER = f"""
with gone as (
    delete from memory.files where tenant = $1 and user_id = $2 returning id
{_GONE}"""


async def purge_user(c: Connection, tenant: str, user_id: str) -> dict[str, int]:
    return {"files": await c.fetchval(PURGE_USER, tenant, user_id)}


FILES = Erasure(scope={"files": PURGE_FILES}, names=(FORGET_AGENT,), user=purge_user)
