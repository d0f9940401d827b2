"""The SQL that erases what the context service holds."""

from __future__ import annotations

from shared.database.postgres import Connection

PURGE = (
    (
        "context_assembly_log",
        "delete from context.context_assembly_log where tenant = $1 and scopes @> array[$2]",
    ),
    ("idempotency", "delete from context.idempotency where tenant = $1 and scope = $2"),
    ("events", "delete from timeline.events where tenant = $1 and scope = $2"),
    ("costs", "delete from timeline.costs where tenant = $1 and scope = $2"),
)
# In addition to the agent's scope: rows that name the agent under other scopes.
PURGE_AGENT = (
    ("context_assembly_log", "delete from context.context_assembly_log where tenant = $1 and caller = $2"),
    ("events", "delete from timeline.events where tenant = $1 and agent_name = $2"),
    ("costs", "delete from timeline.costs where tenant = $1 and agent_name = $2"),
    ("source_weights", "delete from context.source_weights where tenant = $1 and caller = $2"),
    ("source_weight_history", "delete from context.source_weight_history where tenant = $1 and caller = $2"),
    ("caller_budget_config", "delete from context.caller_budget_config where tenant = $1 and caller = $2"),
)
PURGE_USER = (
    ("context_assembly_log", "delete from context.context_assembly_log where tenant = $1 and user_id = $2"),
)

FORGET_AUDIT = "select timeline.forget_audit($1, $2)"


async def forget_audit(connection: Connection, tenant: str, scope: str) -> int:
    """Takes the names of the scope out of the audit. Returns the rows that had them."""
    return int(await connection.fetchval(FORGET_AUDIT, tenant, scope))
