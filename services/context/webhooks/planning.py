"""Makes deliveries of the events that a webhook has not looked at."""

from __future__ import annotations

from services.context.webhooks import queries, queries_sending
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline

# Numbers of events that one transaction looks at.
_AT_ONCE = 500
# More than this stays in the timeline, behind the webhook's position.
MOST_WAITING = 10_000
_SECONDS = 5.0


async def plan_tenant(database: Database, tenant: str) -> bool:
    """One step of each of the tenant's webhooks. Whether any of them has more to look at."""
    after, more = 0, False
    while True:
        step = await database.transaction(tenant, lambda c, a=after: _step(c, tenant, a), Deadline(_SECONDS))  # type: ignore[misc]
        if step is None:
            return more
        after, unfinished = step
        more = more or unfinished


async def _step(c: Connection, tenant: str, after: int) -> tuple[int, bool] | None:
    """The webhook that was planned, and whether it has more to look at. None when no webhook is left."""
    webhook = await queries_sending.behind(c, tenant, after)
    if webhook is None:
        return None
    if await queries_sending.backlog(c, tenant, webhook["id"], MOST_WAITING) >= MOST_WAITING:
        return webhook["id"], False
    last = min(webhook["last"], webhook["position"] + _AT_ONCE)
    await queries_sending.plan(c, tenant, webhook, last)
    return webhook["id"], last < webhook["last"]


async def pause_without_key(database: Database, tenant: str) -> None:
    """Pauses the webhooks whose key is not valid any more."""

    async def work(c: Connection) -> None:
        for webhook_id in await queries_sending.without_valid_key(c, tenant):
            await queries.pause(c, tenant, webhook_id, "key")

    await database.transaction(tenant, work, Deadline(_SECONDS))
