"""The SQL that erases facts and names: those of a scope, those that an agent stated, and those about a user."""

from __future__ import annotations

from shared.database.erasure import Erasure
from shared.database.postgres import Connection

PURGE_FACTS = """
with gone as (delete from memory.facts where tenant = $1 and scope = $2 returning 1)
select count(*) from gone
"""
PURGE_ALIASES = """
with gone as (delete from memory.entity_aliases where tenant = $1 and scope = $2 returning 1)
select count(*) from gone
"""
PURGE_FACTS_OF_AGENT = """
with gone as (delete from memory.facts where tenant = $1 and agent_name = $2 returning 1)
select count(*) from gone
"""
PURGE_ALIASES_OF_AGENT = """
with gone as (delete from memory.entity_aliases where tenant = $1 and agent_name = $2 returning 1)
select count(*) from gone
"""
PURGE_FACTS_OF_USER = """
with gone as (delete from memory.facts where tenant = $1 and user_id = $2 returning 1)
select count(*) from gone
"""


async def purge_agent(c: Connection, tenant: str, agent_name: str) -> dict[str, int]:
    """Erases what the agent stated, in every scope."""
    return {
        "facts": await c.fetchval(PURGE_FACTS_OF_AGENT, tenant, agent_name),
        "entity_aliases": await c.fetchval(PURGE_ALIASES_OF_AGENT, tenant, agent_name),
    }


async def purge_user(c: Connection, tenant: str, user_id: str) -> dict[str, int]:
    """Erases what is about the user, in every scope."""
    return {"facts": await c.fetchval(PURGE_FACTS_OF_USER, tenant, user_id)}


FACTS = Erasure(
    scope={"facts": PURGE_FACTS, "entity_aliases": PURGE_ALIASES}, agent=purge_agent, user=purge_user
)
