"""SQL of the rules that writes wait."""

from __future__ import annotations

import asyncpg

from shared.auth import Principal
from shared.database.postgres import Connection

RULES = """
select scope, set_by, set_at from timeline.review_rules
where tenant = $1 and scope > coalesce($2, '') order by scope limit $3
"""


async def rules(c: Connection, tenant: str, *, after: str | None, limit: int) -> list[asyncpg.Record]:
    """By scope, from the one behind `after` on."""
    rows: list[asyncpg.Record] = await c.fetch(RULES, tenant, after, limit)
    return rows


RULE = "select scope, set_by, set_at from timeline.review_rules where tenant = $1 and scope = $2"


async def rule(c: Connection, tenant: str, scope: str) -> asyncpg.Record | None:
    return await c.fetchrow(RULE, tenant, scope)


# Both tell the timeline, without content, and only where something changed.
SET_RULE = """
with done as (
    insert into timeline.review_rules (tenant, scope, set_by) values ($1, $2, $3)
    on conflict (tenant, scope) do nothing returning scope
)
insert into timeline.events (tenant, scope, kind, mission_id, agent_name, payload)
select $1, scope, 'review_rule', $4, $5, jsonb_build_object('required', true) from done
"""
RESET_RULE = """
with done as (
    delete from timeline.review_rules where tenant = $1 and scope = $2 returning scope
)
insert into timeline.events (tenant, scope, kind, mission_id, agent_name, payload)
select $1, scope, 'review_rule', $3, $4, jsonb_build_object('required', false) from done
"""


async def set_rule(
    c: Connection, principal: Principal, scope: str, mission: str | None, agent: str | None
) -> bool:
    """False where there was one."""
    done = await c.execute(SET_RULE, principal.tenant, scope, principal.key, mission, agent)
    return done.endswith(" 1")


async def reset_rule(
    c: Connection, principal: Principal, scope: str, mission: str | None, agent: str | None
) -> bool:
    """False where there was none."""
    done = await c.execute(RESET_RULE, principal.tenant, scope, mission, agent)
    return done.endswith(" 1")
