"""The SQL of the context service. Functions take the connection first and never commit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import asyncpg
import msgspec

from services.context.schemas import Event
from shared.postgres import Connection


class CallerConfig(msgspec.Struct, frozen=True):
    """What is configured for one caller, the tenant's `*` where the caller has nothing of its own."""

    weights: dict[str, float]
    token_shares: dict[str, float]
    default_budget: int | None
    ceiling: int | None


CALLER_WEIGHTS = """
select distinct on (source) source, weight, token_share from context.source_weights
where tenant = $1 and caller in ($2, '*') order by source, (caller = $2) desc
"""
# A row that learning made has no ceiling: the tenant's goes on.
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


NUMBER_EVENTS = "select timeline.number_events($1)"


LAST_NUMBER = "select last from timeline.sequencer"


async def number_events(connection: Connection, limit: int) -> tuple[int, int]:
    """How many were numbered here, and the last number that any replica gave."""
    numbered = int(await connection.fetchval(NUMBER_EVENTS, limit))
    return numbered, int(await connection.fetchval(LAST_NUMBER))


UNNUMBERED = "select count(*) from timeline.events where seq is null"


async def unnumbered(connection: Connection) -> int:
    return int(await connection.fetchval(UNNUMBERED))


READ_EVENTS = """
select seq, kind, scope, mission_id, agent_name, session_id, dispatch_id, payload, created_at
from timeline.events
where tenant = $1 and seq > $2
  and ($4::text is null or mission_id = $4) and ($5::text is null or kind = $5)
  and ($6::bigint is null or dispatch_id = $6)
  and ($7::text[] is null or mission_id = any($7)) and ($8::text is null or agent_name = $8)
order by seq limit $3
"""


async def read_events(
    connection: Connection,
    tenant: str,
    after: int,
    limit: int,
    mission: str | None,
    kind: str | None,
    dispatch_id: int | None,
    missions: Sequence[str] | None,
    agent: str | None,
) -> list[Event]:
    rows: list[asyncpg.Record] = await connection.fetch(
        READ_EVENTS, tenant, after, limit, mission, kind, dispatch_id, missions, agent
    )
    return [Event(**dict(row)) for row in rows]


LAST_EVENT = "select coalesce(max(seq), 0) from timeline.events where tenant = $1"


async def last_event(connection: Connection, tenant: str) -> int:
    return int(await connection.fetchval(LAST_EVENT, tenant))


MAINTAIN = "select timeline.maintain_partitions($1, $2::interval)"


async def maintain(connection: Connection, parent: str, keep: Any) -> None:
    await connection.execute(MAINTAIN, parent, keep)


PURGE = (
    (
        "context_assembly_log",
        "delete from context.context_assembly_log where tenant = $1 and scopes @> array[$2]",
    ),
    ("idempotency", "delete from context.idempotency where tenant = $1 and scope = $2"),
    ("events", "delete from timeline.events where tenant = $1 and scope = $2"),
    ("costs", "delete from timeline.costs where tenant = $1 and scope = $2"),
)
# Beside the agent's scope, which every assembly of its own and every event of its memories stands in.
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
