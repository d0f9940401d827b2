"""The SQL that erases what the context service holds of a mission, an agent or a user."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from shared.database.postgres import Connection

# Each statement takes the tenant and the scope.
PURGE = (
    (
        "context_assembly_log",
        "delete from context.context_assembly_log where tenant = $1 and scopes @> array[$2]",
    ),
    (
        "idempotency",
        "delete from context.idempotency where tenant = $1 and (scope = $2 or subjects @> array[$2])",
    ),
    ("profiles", "delete from context.profiles where tenant = $1 and scope = $2"),
    ("gateway_sessions", "delete from context.gateway_sessions where tenant = $1 and scopes @> array[$2]"),
    ("session_given", "delete from context.session_given where tenant = $1 and scopes @> array[$2]"),
    ("events", "delete from timeline.events where tenant = $1 and scope = $2"),
    # In the order in which a call is written, or the two would wait for each other.
    ("spending", "delete from timeline.spending where tenant = $1 and subject = $2"),
    ("costs", "delete from timeline.costs where tenant = $1 and scope = $2"),
    ("costs_by_day", "delete from timeline.costs_by_day where tenant = $1 and scope = $2"),
    ("review_rules", "delete from timeline.review_rules where tenant = $1 and scope = $2"),
    ("ceilings", "delete from timeline.ceilings where tenant = $1 and subject = $2"),
    ("embedding_cache", "delete from context.embedding_cache where tenant = $1 and $2::text is not null"),
)
# In addition to the agent's scope: rows that name the agent under other scopes.
PURGE_AGENT = (
    ("context_assembly_log", "delete from context.context_assembly_log where tenant = $1 and caller = $2"),
    ("session_given", "delete from context.session_given where tenant = $1 and caller = $2"),
    ("events", "delete from timeline.events where tenant = $1 and agent_name = $2"),
    ("costs", "delete from timeline.costs where tenant = $1 and agent_name = $2"),
    ("costs_by_day", "delete from timeline.costs_by_day where tenant = $1 and agent_name = $2"),
    ("source_weights", "delete from context.source_weights where tenant = $1 and caller = $2"),
    ("source_weight_history", "delete from context.source_weight_history where tenant = $1 and caller = $2"),
    ("caller_budget_config", "delete from context.caller_budget_config where tenant = $1 and caller = $2"),
)
# Agents' own events stay, without the mission in which they arose.
FORGET_MISSION = (
    ("events", "update timeline.events set mission_id = null where tenant = $1 and mission_id = $2"),
    ("costs", "delete from timeline.costs where tenant = $1 and mission_id = $2"),
    ("costs_by_day", "delete from timeline.costs_by_day where tenant = $1 and mission_id = $2"),
)
PURGE_USER = """
delete from context.context_assembly_log where tenant = $1 and user_id = $2 returning session_id
"""
FORGET_SESSIONS = "select timeline.forget_sessions($1, $2)"
FORGET_AUDIT = "select timeline.forget_audit($1, $2)"
BEGIN = "select timeline.mark_erased($1, $2)"


async def begin(connection: Connection, tenant: str, scope: str) -> None:
    """From now on, no replica writes a row about the scope, or a vector, that it holds in memory already."""
    await connection.execute(BEGIN, tenant, [scope, "vectors"])


async def purge(
    connection: Connection, statements: Sequence[tuple[str, str]], tenant: str, name: str
) -> Counter[str]:
    """Rows by table."""
    counts: Counter[str] = Counter()
    for table, statement in statements:
        done = await connection.execute(statement, tenant, name)
        counts[table] += int(done.rsplit(" ", 1)[-1])
    return counts


async def purge_user(connection: Connection, tenant: str, user: str) -> Counter[str]:
    """The assemblies for the user, and their sessions in the timeline."""
    rows = await connection.fetch(PURGE_USER, tenant, user)
    sessions = sorted({row["session_id"] for row in rows} - {None})
    await connection.execute(FORGET_SESSIONS, tenant, sessions)
    return Counter({"context_assembly_log": len(rows)})


async def forget_audit(connection: Connection, tenant: str, scope: str) -> Counter[str]:
    """Takes the names of the scope out of the audit."""
    return Counter({"audit": int(await connection.fetchval(FORGET_AUDIT, tenant, scope))})
