"""Sends the tenants' events on every replica. Tenants take turns, and what one's receivers do delays no other's.

An event is marked as delivered only after its receiver has answered: a replica that dies in between sends it again.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Awaitable
from datetime import timedelta
from typing import TypeVar
from uuid import uuid4

import structlog

from services.context.webhooks import queries_sending
from services.context.webhooks.lanes import LEASE_SECONDS, Lanes
from services.context.webhooks.planning import Turn, pause_without_key, plan_tenant
from services.context.webhooks.queries_sending import Lane
from services.context.webhooks.sending import Sender
from services.context.webhooks.sharing import Paces, Shares
from shared.addresses import Reach
from shared.concurrency import clock
from shared.concurrency.tasks import end, every
from shared.database.postgres import EVERY_TENANT, Database
from shared.deadline import Deadline
from shared.errors import AppError
from shared.telemetry import metrics

T = TypeVar("T")

log = structlog.get_logger()

POLL_SECONDS = 0.5
# Between two looks while there is work.
_PAUSE_SECONDS = 0.02
_SECONDS = 5.0
_COUNT_SECONDS = 15.0
_SWEEP_SECONDS = 3_600.0
# Lanes that a replica sends at once: of all, of a tenant and of a webhook.
MOST, OF_TENANT, OF_WEBHOOK = 256, 16, 8
# How long a revoked key's webhook may still send, as the key itself may still pass.
_KEY_SECONDS = 2.0
_KEPT, _KEPT_DEAD = timedelta(days=7), timedelta(days=30)
_SWEPT_AT_ONCE = 5_000


class Deliverer:
    def __init__(self, database: Database, reach: Reach) -> None:
        self._database = database
        self.sender = Sender(reach)
        self._paces = Paces(OF_WEBHOOK)
        self._places = Shares(MOST, OF_TENANT)
        self._lanes = Lanes(database, self.sender, self._paces)
        self._sending: dict[asyncio.Task[None], tuple[str, Lane]] = {}
        self._turns: dict[str, Turn] = {}
        self._done = asyncio.Event()
        self._last = ""
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        jobs = (
            self._send_forever(),
            every(_COUNT_SECONDS, "counting deliveries", self._count),
            every(_SWEEP_SECONDS, "sweeping deliveries", self._sweep),
        )
        self._tasks = [asyncio.create_task(job) for job in jobs]

    async def stop(self) -> None:
        """What is being sent is sent again by another replica, once its lease ends."""
        await end(*self._tasks)
        await end(*self._sending)
        await self.sender.close()

    async def _send_forever(self) -> None:
        while True:
            busy = await self._guarded(self._look())
            await self._wait(_PAUSE_SECONDS if busy else POLL_SECONDS)

    async def _look(self) -> bool:
        """Whether there is more to do."""
        found = await self._database.run(EVERY_TENANT, queries_sending.tenants, Deadline(_SECONDS))
        # The tenant after the last one that was served goes first.
        ordered = [*(t for t in found if t > self._last), *(t for t in found if t <= self._last)]
        more = False
        for tenant in ordered:
            if not self._places.free:
                break
            more = bool(await self._guarded(self._serve(tenant))) or more
            self._last = tenant
        return more

    async def _serve(self, tenant: str) -> bool:
        """Whether the tenant has more to plan, or took lanes."""
        turn = self._turns.get(tenant)
        if turn is None or time.monotonic() - turn.began >= _KEY_SECONDS:
            await pause_without_key(self._database, tenant)
            turn = self._turns[tenant] = Turn(time.monotonic(), turn.after if turn else 0)
        more = await plan_tenant(self._database, tenant, turn)
        return bool(await self._take(tenant)) or more

    async def _take(self, tenant: str) -> int:
        most = self._places.room(tenant)
        if not most:
            return 0
        busy = Counter(lane.webhook_id for name, lane in self._sending.values() if name == tenant)
        room = self._paces.room(tenant, busy)
        mark = uuid4()
        lanes = await self._database.transaction(
            tenant,
            lambda c: queries_sending.lease(c, tenant, room, Paces.FIRST, most, LEASE_SECONDS, mark),
            Deadline(_SECONDS),
        )
        for lane in lanes:
            task = asyncio.create_task(self._guarded(self._lanes.send(tenant, lane, mark)))
            self._sending[task] = (tenant, lane)
            self._places.take(tenant)
            task.add_done_callback(self._ended)
        return len(lanes)

    def _ended(self, task: asyncio.Task[None]) -> None:
        tenant, _ = self._sending.pop(task)
        self._places.give(tenant)
        self._done.set()

    async def _wait(self, seconds: float) -> None:
        """Until a lane ends, but for a moment at least, and for `seconds` at most."""
        await asyncio.sleep(_PAUSE_SECONDS)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._done.wait()
        self._done.clear()

    async def _guarded(self, work: Awaitable[T]) -> T | None:
        """None where it failed; what it leased is taken again later."""
        try:
            return await work
        except AppError as error:
            log.debug("a delivery waits", error=str(error))
        except Exception as error:
            log.error("a delivery failed", exc_info=error)
        return None

    async def _count(self) -> None:
        found = await self._database.run(EVERY_TENANT, queries_sending.waiting, Deadline(_SECONDS))
        metrics.WEBHOOK_WAITING.set(found.waiting)
        oldest = found.oldest or clock.now()
        metrics.WEBHOOK_LAG.set(max(0.0, (clock.now() - oldest).total_seconds()))

    async def _sweep(self) -> None:
        for tenant in await self._database.run(EVERY_TENANT, queries_sending.senders, Deadline(_SECONDS)):
            await self._guarded(self._sweep_tenant(tenant))
        self._turns.clear()
        self._paces.forget()

    async def _sweep_tenant(self, tenant: str) -> None:
        swept = _SWEPT_AT_ONCE
        while swept == _SWEPT_AT_ONCE:
            swept = await self._database.run(
                tenant,
                lambda c: queries_sending.sweep(c, tenant, _KEPT, _KEPT_DEAD, _SWEPT_AT_ONCE),
                Deadline(_SECONDS),
            )
