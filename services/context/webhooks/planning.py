"""Makes deliveries of the events that a webhook has not looked at."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from services.context.webhooks import queries, queries_sending
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline

# Numbers of events that one transaction looks at.
_AT_ONCE = 500
# More than this stays in the timeline, behind the webhook's position.
MOST_WAITING = 10_000
_SECONDS = 5.0
# Then other tenants have a turn.
_TURN_SECONDS = 0.1


@dataclass
class Turn:
    """Where a replica is with a tenant's webhooks."""

    began: float
    after: int = 0
    """The webhook that was planned last."""
    full: set[int] = field(default_factory=set)
    """Those whose queue is full. Counting what waits costs too much to do it at each look."""


class _Step(NamedTuple):
    webhook_id: int
    more: bool
    full: bool = False


async def plan_tenant(database: Database, tenant: str, turn: Turn) -> bool:
    """One step of each of the tenant's webhooks, as far as the time goes. Whether any has more to look at."""
    end = time.monotonic() + _TURN_SECONDS
    more = turn.after > 0
    while time.monotonic() < end:
        step = await database.transaction(
            tenant, partial(_step, tenant=tenant, turn=turn), Deadline(_SECONDS)
        )
        if step is None:
            turn.after = 0
            return more
        turn.after = step.webhook_id
        more = more or step.more
        if step.full:
            turn.full.add(step.webhook_id)
    return True


async def _step(c: Connection, *, tenant: str, turn: Turn) -> _Step | None:
    """None when no webhook is left."""
    webhook = await queries_sending.behind(c, tenant, turn.after, sorted(turn.full))
    if webhook is None:
        return None
    if await queries_sending.backlog(c, tenant, webhook["id"], MOST_WAITING) >= MOST_WAITING:
        return _Step(webhook["id"], more=False, full=True)
    last = min(webhook["last"], webhook["position"] + _AT_ONCE)
    await queries_sending.plan(c, tenant, webhook, last)
    return _Step(webhook["id"], more=last < webhook["last"])


async def pause_without_key(database: Database, tenant: str) -> None:
    """Pauses the webhooks whose key is not valid any more."""

    async def work(c: Connection) -> None:
        for webhook_id in await queries_sending.without_valid_key(c, tenant):
            await queries.pause(c, tenant, webhook_id, "key")

    await database.transaction(tenant, work, Deadline(_SECONDS))
