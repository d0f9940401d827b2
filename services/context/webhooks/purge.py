"""Erases what webhooks hold of a mission, an agent or a user."""

from __future__ import annotations

from collections import Counter

from shared.database.postgres import Connection

# Whoever plans deliveries holds one of these, so that none is planned of an event that is being erased.
LOCK = "select id from context.webhooks where tenant = $1 order by id for update"
LANES = "delete from context.webhook_lanes where tenant = $1 and scope = $2"
DELIVERIES = "delete from context.webhook_deliveries where tenant = $1 and scope = $2"
# A webhook of the subject alone: it filters by it, or its key was bound to it. $2 is the kind and $3 the name.
_OF_IT_ALONE = """
case $2
    when 'agent' then agent_bound = $3 or agents @> array[$3] and agents <@ array[$3]
    when 'user' then user_bound @> array[$3] and user_bound <@ array[$3]
    else mission_bound @> array[$3] and mission_bound <@ array[$3]
        or missions @> array[$3] and missions <@ array[$3] end
"""
ERASE = f"delete from context.webhooks where tenant = $1 and {_OF_IT_ALONE}"
NARROW = """
update context.webhooks
set missions = array_remove(missions, case when $2 = 'mission' then $3 end),
    mission_bound = array_remove(mission_bound, case when $2 = 'mission' then $3 end),
    agents = array_remove(agents, case when $2 = 'agent' then $3 end),
    user_bound = array_remove(user_bound, case when $2 = 'user' then $3 end)
where tenant = $1 and case $2 when 'agent' then $3 = any (agents) when 'user' then $3 = any (user_bound)
    else $3 = any (missions) or $3 = any (mission_bound) end
"""


async def begin(c: Connection, tenant: str) -> None:
    """Call it before the events are erased."""
    await c.execute(LOCK, tenant)


async def erase(c: Connection, tenant: str, scope: str, subject: tuple[str, str] | None) -> Counter[str]:
    """Rows by table. `subject` as a kind and a name, where it is erased everywhere."""
    counts: Counter[str] = Counter()
    await c.execute(LANES, tenant, scope)
    counts["webhook_deliveries"] += _rows(await c.execute(DELIVERIES, tenant, scope))
    if subject is not None:
        counts["webhooks"] += _rows(await c.execute(ERASE, tenant, *subject))
        await c.execute(NARROW, tenant, *subject)
    return counts


def _rows(done: str) -> int:
    return int(done.rsplit(" ", 1)[-1])
