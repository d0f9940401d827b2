"""The rules of dispatches: who may report on which, and when a silent one is closed."""

from __future__ import annotations

import asyncio

import asyncpg
import msgspec
import structlog

from services.cache.dispatches import queries
from services.cache.dispatches.schemas import (
    Completed,
    CompleteInput,
    Dispatch,
    DispatchesAnswer,
    ProgressInput,
    ReportInput,
    Status,
)
from services.cache.settings import Settings
from shared.auth import Principal
from shared.database.doorbell import Doorbell
from shared.database.idempotency import Key, Records
from shared.database.postgres import Connection, Database, Work
from shared.deadline import Deadline
from shared.errors import AppError, Conflict, NotFound

log = structlog.get_logger()

_SWEEP_SECONDS = 30.0
# Looks within an hour of silence.
_LOOKS = 60


class DispatchService:
    def __init__(self, settings: Settings, database: Database, doorbell: Doorbell, records: Records) -> None:
        self._minutes = settings.stale_minutes
        self._database = database
        self._doorbell = doorbell
        self._records = records

    async def report(
        self, principal: Principal, given: ReportInput, key: Key | None, deadline: Deadline
    ) -> Dispatch:
        principal.require_mission(given.mission_id)
        principal.require_agent(given.agent_name)

        async def insert(connection: Connection) -> Dispatch:
            row = await queries.report(
                connection,
                principal.tenant,
                given.mission_id,
                given.agent_name,
                given.task,
                given.parent_dispatch_id,
                given.session_id,
                principal.key,
            )
            return _dispatch(row)

        if key is None:
            reported = await self._database.run(insert, deadline)
            self._doorbell.ring(principal.tenant)
            return reported
        # A replay answers what the dispatch is now: records hold ids, never content.
        made = await self._once(principal, given.mission_id, key, insert, 201, deadline)
        return await self.get(principal, made.id, deadline)

    async def progress(
        self,
        principal: Principal,
        dispatch_id: int,
        given: ProgressInput,
        key: Key | None,
        deadline: Deadline,
    ) -> Dispatch:
        """Raises Conflict when it is closed."""
        known = await self._own(principal, dispatch_id, deadline)

        async def note(connection: Connection) -> Dispatch:
            row = await queries.progress(connection, principal.tenant, dispatch_id, given.note, given.percent)
            if row is None:
                raise Conflict(f"dispatch {dispatch_id} is closed")
            return _dispatch(row)

        if key is None:
            noted = await self._database.run(note, deadline)
            self._doorbell.ring(principal.tenant)
            return noted
        await self._once(principal, known.mission_id, key, note, 200, deadline)
        return await self.get(principal, dispatch_id, deadline)

    async def complete(
        self,
        principal: Principal,
        dispatch_id: int,
        given: CompleteInput,
        key: Key | None,
        deadline: Deadline,
    ) -> Completed:
        """Raises Conflict when it is completed already."""
        known = await self._own(principal, dispatch_id, deadline)

        async def close(connection: Connection) -> Completed:
            row = await queries.complete(
                connection, principal.tenant, dispatch_id, given.outcome, given.summary
            )
            if row is None:
                raise Conflict(f"dispatch {dispatch_id} is completed")
            return Completed(row["id"], row["status"], row["outcome"], output_missing=not row["outputs"])

        if key is None:
            completed = await self._database.run(close, deadline)
        else:
            completed = await self._database.transaction(
                lambda c: self._records.once(
                    c, principal.tenant, f"mission:{known.mission_id}", key, Completed, lambda: close(c), 200
                ),
                deadline,
            )
        self._doorbell.ring(principal.tenant)
        return completed

    async def get(self, principal: Principal, dispatch_id: int, deadline: Deadline) -> Dispatch:
        row = await self._database.run(
            lambda c: queries.dispatch(c, principal.tenant, dispatch_id, principal.seen_missions()), deadline
        )
        if row is None:
            raise NotFound(f"no dispatch {dispatch_id}")
        return _dispatch(row)

    async def list(
        self,
        principal: Principal,
        mission_id: str | None,
        agent: str | None,
        status: Status | None,
        before: int | None,
        limit: int,
        deadline: Deadline,
    ) -> DispatchesAnswer:
        if mission_id is not None:
            principal.require_mission(mission_id)
        missions = principal.seen_missions()
        rows = await self._database.run(
            lambda c: queries.dispatches(
                c, principal.tenant, missions, mission_id, agent, status, before, limit
            ),
            deadline,
        )
        found = [_dispatch(row) for row in rows]
        return DispatchesAnswer(found, found[-1].id if len(found) == limit else None)

    async def sweep_forever(self) -> None:
        """Looks often enough that none outlives its silence by much, and never more than once a second."""
        while True:
            await asyncio.sleep(max(1.0, self._minutes * 60 / _LOOKS))
            try:
                await self.sweep()
            except AppError as error:
                log.warning("stale dispatches put off", error=error.detail)
            except Exception as error:
                log.error("closing stale dispatches failed", exc_info=error)

    async def sweep(self) -> int:
        """How many were closed as stale here."""
        closed = 0
        while rows := await self._database.run(
            lambda c: queries.close_stale(c, self._minutes), Deadline(_SWEEP_SECONDS)
        ):
            closed += len(rows)
            for tenant in {row["tenant"] for row in rows}:
                self._doorbell.ring(tenant)
        return closed

    async def _own(self, principal: Principal, dispatch_id: int, deadline: Deadline) -> Dispatch:
        known = await self.get(principal, dispatch_id, deadline)
        principal.require_agent(known.agent_name)
        return known

    async def _once(
        self,
        principal: Principal,
        mission_id: str,
        key: Key,
        change: Work[Dispatch],
        status: int,
        deadline: Deadline,
    ) -> _Changed:
        async def changed(connection: Connection) -> _Changed:
            return _Changed((await change(connection)).id)

        made = await self._database.transaction(
            lambda c: self._records.once(
                c, principal.tenant, f"mission:{mission_id}", key, _Changed, lambda: changed(c), status
            ),
            deadline,
        )
        self._doorbell.ring(principal.tenant)
        return made


class _Changed(msgspec.Struct):
    id: int


def _dispatch(row: asyncpg.Record) -> Dispatch:
    return Dispatch(**dict(row))
