"""The SQL of a caller's configuration."""

from __future__ import annotations

import msgspec

from shared.database.postgres import Connection


class CallerConfig(msgspec.Struct, frozen=True):
    """A caller's weights and budget. The tenant's `*` row applies where the caller has none."""

    weights: dict[str, float]
    token_shares: dict[str, float]
    default_budget: int | None
    ceiling: int | None


CALLER_WEIGHTS = """
select distinct on (source) source, weight, token_share from context.source_weights
where tenant = $1 and caller in ($2, '*') order by source, (caller = $2) desc
"""
# A learned row has no ceiling, so the tenant's still applies.
CALLER_BUDGET = """
select (array_agg(default_budget order by caller = $2 desc))[1] as default_budget,
       (array_agg(ceiling order by caller = $2 desc) filter (where ceiling is not null))[1] as ceiling
from context.caller_budget_config where tenant = $1 and caller in ($2, '*')
"""


async def caller_config(connection: Connection, tenant: str, caller: str) -> CallerConfig:
    rows = await connection.fetch(CALLER_WEIGHTS, tenant, caller)
    budget = await connection.fetchrow(CALLER_BUDGET, tenant, caller)
    return CallerConfig(
        weights={row["source"]: round(row["weight"], 4) for row in rows},
        token_shares={row["source"]: round(row["token_share"], 4) for row in rows},
        default_budget=budget["default_budget"] if budget else None,
        ceiling=budget["ceiling"] if budget else None,
    )
