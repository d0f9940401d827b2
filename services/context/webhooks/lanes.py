"""Sends the events of one leased lane, one after the other, and notes what came of each after it was sent."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from uuid import UUID

from services.context.webhooks import queries, queries_sending, retrying, signing
from services.context.webhooks.queries_sending import Head, Lane
from services.context.webhooks.retrying import Outcome
from services.context.webhooks.sending import SECONDS, Sender
from services.context.webhooks.sharing import Paces
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.telemetry import metrics

# An attempt and its note take less.
LEASE_SECONDS = int(SECONDS) + 10
# A lane then waits until others had a turn.
_TURN_SECONDS = 5.0
_NOTE_SECONDS = 5.0
# So many notes at once, so that they leave connections to requests.
_NOTES = 3
# A purge holds lanes for longer. What is not noted is sent again.
_LOCKS = {"lock_timeout": "'1s'"}
_FAILING = timedelta(days=5)


class Lanes:
    def __init__(self, database: Database, sender: Sender, paces: Paces) -> None:
        self._database = database
        self._sender = sender
        self._paces = paces
        self._notes = asyncio.Semaphore(_NOTES)

    async def send(self, tenant: str, lane: Lane, mark: UUID) -> None:
        """Until the lane is empty, an event fails, or the turn ends. `mark` is the lease's."""
        until = time.monotonic() + _TURN_SECONDS
        head = await self._noted(tenant, lambda c: _begin(c, tenant, lane, mark))
        while head is not None:
            outcome = await self._attempt(tenant, head)
            again = time.monotonic() < until
            head = await self._note(tenant, lane, mark, head, outcome, again=again)

    async def _attempt(self, tenant: str, head: Head) -> Outcome | None:
        if head.event is None:
            return None
        return await self._sender.send(tenant, head.url, signing.message(tenant, head.event), head.keys)

    async def _note(
        self, tenant: str, lane: Lane, mark: UUID, head: Head, outcome: Outcome | None, *, again: bool
    ) -> Head | None:
        """The next event, if it is to be sent now."""
        status = _status(head, outcome)
        if outcome is not None:
            self._paces.told(tenant, lane.webhook_id, delivered=outcome.delivered)
        metrics.WEBHOOK_ATTEMPTS.labels("failed" if status == "waiting" else status).inc()
        following = await self._noted(
            tenant, lambda c: _settle(c, tenant, lane, mark, head, outcome, status, again=again)
        )
        if outcome is not None and (head.failing or not outcome.delivered):
            await self._noted(tenant, lambda c: _remember(c, tenant, lane.webhook_id, outcome))
        return following

    async def _noted(self, tenant: str, work: Callable[[Connection], Awaitable[Head | None]]) -> Head | None:
        async with self._notes:
            return await self._database.transaction(tenant, work, Deadline(_NOTE_SECONDS), settings=_LOCKS)


def _status(head: Head, outcome: Outcome | None) -> str:
    if outcome is None:
        return "erased"
    if outcome.delivered:
        return "delivered"
    last = head.attempts + 1 >= retrying.MOST_ATTEMPTS and not outcome.gone
    return "dead" if last else "waiting"


async def _begin(c: Connection, tenant: str, lane: Lane, mark: UUID) -> Head | None:
    if not await queries_sending.lock_lane(c, tenant, lane, mark):
        return None
    return await _next(c, tenant, lane)


async def _next(c: Connection, tenant: str, lane: Lane) -> Head | None:
    head = await queries_sending.head(c, tenant, lane)
    if head is None:
        await queries_sending.close_lane(c, tenant, lane)
    return head


async def _settle(
    c: Connection,
    tenant: str,
    lane: Lane,
    mark: UUID,
    head: Head,
    outcome: Outcome | None,
    status: str,
    *,
    again: bool,
) -> Head | None:
    """Notes it, and renews the lease for the next event or gives it back. Another's lane stays as it is."""
    if not await queries_sending.lock_lane(c, tenant, lane, mark):
        return None
    await queries_sending.note(c, tenant, lane, head.seq, status, outcome)
    if status == "waiting" and outcome is not None:
        seconds = retrying.delay(head.attempts + 1, outcome.retry_after)
        await queries_sending.keep_lane(c, tenant, lane, seconds)
        return None
    if not again:
        await queries_sending.keep_lane(c, tenant, lane, None)
        return None
    await queries_sending.keep_lane(c, tenant, lane, LEASE_SECONDS, mark)
    return await _next(c, tenant, lane)


async def _remember(c: Connection, tenant: str, webhook_id: int, outcome: Outcome) -> Head | None:
    """Of the webhook: whether it fails. One that is gone, or fails for days, is paused."""
    if not await queries_sending.lock_webhook(c, tenant, webhook_id):
        return None
    if outcome.delivered:
        await queries_sending.works(c, tenant, webhook_id)
    elif outcome.gone:
        await queries.pause(c, tenant, webhook_id, "gone")
    elif await queries_sending.fails(c, tenant, webhook_id, _FAILING):
        await queries.pause(c, tenant, webhook_id, "failing")
    return None
