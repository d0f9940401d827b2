"""The SQL of weights, budgets and their history."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal

import asyncpg
import msgspec

from shared.database.postgres import Connection

LIST_WEIGHTS = """
select caller, source, weight, token_share, manual, updated_at from context.source_weights
where tenant = $1 and ($2::text is null or caller in ($2, '*')) order by caller, source
"""
LIST_BUDGETS = """
select caller, default_budget, min_budget, max_budget, ceiling, manual, updated_at
from context.caller_budget_config
where tenant = $1 and ($2::text is null or caller in ($2, '*')) order by caller
"""
LIST_HISTORY = """
select id, caller, source, old_weight, new_weight, old_token_share, new_token_share, cause, effectiveness, assemblies,
       created_at
from context.source_weight_history
where tenant = $1 and ($2::text is null or caller in ($2, '*'))
  and ($3::timestamptz is null or created_at >= $3) and id < coalesce($4::bigint, 9223372036854775807)
order by id desc limit $5
"""


async def list_weights(connection: Connection, tenant: str, caller: str | None) -> list[asyncpg.Record]:
    rows: list[asyncpg.Record] = await connection.fetch(LIST_WEIGHTS, tenant, caller)
    return rows


async def list_budgets(connection: Connection, tenant: str, caller: str | None) -> list[asyncpg.Record]:
    rows: list[asyncpg.Record] = await connection.fetch(LIST_BUDGETS, tenant, caller)
    return rows


async def list_history(
    connection: Connection,
    tenant: str,
    caller: str | None,
    since: datetime | None,
    *,
    before: int | None,
    limit: int,
) -> list[asyncpg.Record]:
    """Newest first, from the one older than `before` on."""
    rows: list[asyncpg.Record] = await connection.fetch(LIST_HISTORY, tenant, caller, since, before, limit)
    return rows


TRY_LOCK = "select pg_try_advisory_xact_lock(hashtextextended('learn' || chr(31) || $1 || chr(31) || $2, 4))"
LOCK = "select pg_advisory_xact_lock(hashtextextended('learn' || chr(31) || $1 || chr(31) || $2, 4))"


async def try_lock(connection: Connection, tenant: str, caller: str) -> bool:
    """Only one transaction at a time changes a caller's settings. False when another is doing so."""
    return bool(await connection.fetchval(TRY_LOCK, tenant, caller))


async def lock(connection: Connection, tenant: str, caller: str) -> None:
    await connection.execute(LOCK, tenant, caller)


# The caller's own row, or else the tenant's `*` row.
WEIGHTS_OF = """
select distinct on (source) caller, source, weight, token_share, manual from context.source_weights
where tenant = $1 and caller in ($2, '*') order by source, (caller = $2) desc
"""
BUDGET_OF = """
select caller, default_budget, min_budget, max_budget, ceiling, manual from context.caller_budget_config
where tenant = $1 and caller in ($2, '*') order by (caller = $2) desc limit 1
"""


async def weights_of(connection: Connection, tenant: str, caller: str) -> list[asyncpg.Record]:
    rows: list[asyncpg.Record] = await connection.fetch(WEIGHTS_OF, tenant, caller)
    return rows


async def budget_of(connection: Connection, tenant: str, caller: str) -> asyncpg.Record | None:
    return await connection.fetchrow(BUDGET_OF, tenant, caller)


class PutWeight(msgspec.Struct, kw_only=True):
    """A new weight, the one it replaces, and why."""

    caller: str
    source: str
    weight: float
    token_share: float
    manual: bool
    old_weight: float
    old_token_share: float
    cause: Literal["operator", "eval"]
    effectiveness: float | None = None
    assemblies: int | None = None


PUT_WEIGHT = """
with given as (
    select * from jsonb_to_record($2::jsonb) as g(
        caller text, source text, weight real, token_share real, manual boolean, old_weight real,
        old_token_share real, cause text, effectiveness real, assemblies int)
), history as (
    insert into context.source_weight_history (tenant, caller, source, old_weight, new_weight, old_token_share,
        new_token_share, cause, effectiveness, assemblies)
    select $1, caller, source, old_weight, weight, old_token_share, token_share, cause, effectiveness, assemblies
    from given
)
insert into context.source_weights (tenant, caller, source, weight, token_share, manual)
select $1, caller, source, weight, token_share, manual from given
on conflict (tenant, caller, source) do update
set weight = excluded.weight, token_share = excluded.token_share, manual = excluded.manual,
    updated_at = excluded.updated_at
returning caller, source, weight, token_share, manual, updated_at
"""


async def put_weight(connection: Connection, tenant: str, put: PutWeight) -> asyncpg.Record:
    row = await connection.fetchrow(PUT_WEIGHT, tenant, put)
    assert row is not None
    return row


class PutBudget(msgspec.Struct, kw_only=True):
    caller: str
    default_budget: int
    min_budget: int
    max_budget: int
    ceiling: int | None
    manual: bool


PUT_BUDGET = """
insert into context.caller_budget_config (tenant, caller, default_budget, min_budget, max_budget, ceiling, manual)
select $1, caller, default_budget, min_budget, max_budget, ceiling, manual
from jsonb_to_record($2::jsonb) as g(
    caller text, default_budget int, min_budget int, max_budget int, ceiling int, manual boolean)
on conflict (tenant, caller) do update
set default_budget = excluded.default_budget, min_budget = excluded.min_budget, max_budget = excluded.max_budget,
    ceiling = excluded.ceiling, manual = excluded.manual, updated_at = excluded.updated_at
returning caller, default_budget, min_budget, max_budget, ceiling, manual, updated_at
"""


async def put_budget(connection: Connection, tenant: str, put: PutBudget) -> asyncpg.Record:
    row = await connection.fetchrow(PUT_BUDGET, tenant, put)
    assert row is not None
    return row


RESET_WEIGHT = """
delete from context.source_weights where tenant = $1 and caller = $2 and source = $3
returning weight, token_share, manual
"""
OWN_BUDGET = """
select default_budget, min_budget, max_budget, ceiling, manual from context.caller_budget_config
where tenant = $1 and caller = $2
"""
RESET_BUDGET = "delete from context.caller_budget_config where tenant = $1 and caller = $2"


async def reset_weight(
    connection: Connection, tenant: str, caller: str, source: str
) -> dict[str, Any] | None:
    """The setting that it removed."""
    row = await connection.fetchrow(RESET_WEIGHT, tenant, caller, source)
    return None if row is None else dict(row)


async def own_budget(connection: Connection, tenant: str, caller: str) -> dict[str, Any] | None:
    row = await connection.fetchrow(OWN_BUDGET, tenant, caller)
    return None if row is None else dict(row)


async def reset_budget(connection: Connection, tenant: str, caller: str) -> None:
    await connection.execute(RESET_BUDGET, tenant, caller)


EVALUATED = """
insert into timeline.events (tenant, scope, kind, agent_name, payload)
values ($1, 'agent:' || $2, 'context_eval', $2,
        jsonb_build_object('assemblies', $3::int, 'weights', $4::int, 'budget', $5::int))
"""


async def note_evaluation(
    connection: Connection, tenant: str, caller: str, *, assemblies: int, weights: int, budgets: int
) -> None:
    await connection.execute(EVALUATED, tenant, caller, assemblies, weights, budgets)


COUNTS = """
select (select count(*) from context.source_weights where $1::text is null or tenant = $1) as weights,
       (select count(*) from context.caller_budget_config where $1::text is null or tenant = $1) as budgets
"""


async def counts(connection: Connection, tenant: str | None) -> tuple[int, int]:
    row = await connection.fetchrow(COUNTS, tenant)
    assert row is not None
    return row["weights"], row["budgets"]
