"""SQL of tenants' policies for secrets."""

from __future__ import annotations

from services.context.scrubbing.schemas import Policy
from shared.database.postgres import Connection

POLICY = "select policy from context.secret_policies where tenant = $1"


async def policy_of(c: Connection, tenant: str) -> Policy | None:
    found: Policy | None = await c.fetchval(POLICY, tenant)
    return found


PUT_POLICY = """
insert into context.secret_policies (tenant, policy, set_by) values ($1, $2, $3)
on conflict (tenant) do update set
    policy = excluded.policy, set_by = excluded.set_by, updated_at = excluded.updated_at
"""


async def put_policy(c: Connection, tenant: str, policy: Policy, key: str) -> None:
    await c.execute(PUT_POLICY, tenant, policy, key)


RESET_POLICY = "delete from context.secret_policies where tenant = $1"


async def reset_policy(c: Connection, tenant: str) -> None:
    await c.execute(RESET_POLICY, tenant)
