"""The rules of dispatches: who may report on which, and when a stale one is closed."""

from __future__ import annotations

from datetime import datetime

import asyncpg
import msgspec

from services.cache.dispatches import queries
from services.cache.dispatches.schemas import (
    Completed,
    CompleteInput,
    Dispatch,
    DispatchCursor,
    DispatchesAnswer,
    ProgressInput,
    ReportInput,
    Status,
)
from services.cache.keyed_writes import KeyedWrites
from shared.auth import Principal
from shared.concurrency.tasks import every
from shared.database.doorbell import Doorbell
from shared.database.idempotency import Key
from shared.database.postgres import EVERY_TENANT, Connection, Database, Work
from shared.deadline import Deadline
from shared.errors import Conflict, NotFound
from shared.paging.pages import page_of
from shared.provenance import utc

_SWEEP_SECONDS = 30.0
# The sweep runs this many times in `stale_minutes`, but at most once a second.
_LOOKS = 60


class DispatchId(msgspec.Struct):
    """What an idempotency record keeps of a dispatch: its id, never its content."""

    id: int


class DispatchService:
    def __init__(
        self, database: Database, keyed: KeyedWrites, doorbell: Doorbell, *, stale_minutes: float
    ) -> None:
        """Closes dispatches without a sign of life for `stale_minutes`."""
        self._database = database
        self._keyed = keyed
        self._doorbell = doorbell
        self._stale_minutes = stale_minutes

    async def report(
        self, principal: Principal, report: ReportInput, key: Key | None, deadline: Deadline
    ) -> Dispatch:
        principal.require_mission(report.mission_id)
        principal.require_agent(report.agent_name)

        async def insert(connection: Connection) -> Dispatch:
            return _seen(principal, await queries.report(connection, principal, report))

        about = None if key is None else key.about([report.agent_name])
        return await self._change(principal, report.mission_id, about, insert, deadline, status=201)

    async def progress(
        self,
        principal: Principal,
        dispatch_id: int,
        progress: ProgressInput,
        key: Key | None,
        deadline: Deadline,
    ) -> Dispatch:
        """Raises Conflict when the dispatch is closed."""
        dispatch = await self._own(principal, dispatch_id, deadline)

        async def update(connection: Connection) -> Dispatch:
            row = await queries.progress(connection, principal.tenant, dispatch_id, progress)
            if row is None:
                raise Conflict(f"dispatch {dispatch_id} is closed")
            return _seen(principal, row)

        about = None if key is None else key.about([dispatch.agent_name])
        return await self._change(principal, dispatch.mission_id, about, update, deadline, status=200)

    async def complete(
        self,
        principal: Principal,
        dispatch_id: int,
        completion: CompleteInput,
        key: Key | None,
        deadline: Deadline,
    ) -> Completed:
        """Raises Conflict when the dispatch is already completed."""
        dispatch = await self._own(principal, dispatch_id, deadline)

        async def close(connection: Connection) -> Completed:
            row = await queries.complete(connection, principal.tenant, dispatch_id, completion)
            if row is None:
                raise Conflict(f"dispatch {dispatch_id} is completed")
            return Completed(row["id"], row["status"], row["outcome"], output_missing=not row["outputs"])

        if key is None:
            completed = await self._database.run(principal.tenant, close, deadline)
        else:
            completed = await self._keyed.once(
                principal.tenant,
                dispatch.mission_id,
                key.about([dispatch.agent_name]),
                Completed,
                close,
                deadline,
                status=200,
            )
        self._doorbell.ring(principal.tenant)
        return completed

    async def get(self, principal: Principal, dispatch_id: int, deadline: Deadline) -> Dispatch:
        row = await self._database.run(
            principal.tenant, lambda c: queries.dispatch(c, principal, dispatch_id), deadline
        )
        if row is None:
            raise NotFound(f"no dispatch {dispatch_id}")
        return _seen(principal, row)

    async def list(
        self,
        principal: Principal,
        deadline: Deadline,
        *,
        mission_id: str | None,
        agent_name: str | None,
        status: Status | None,
        since: datetime | None,
        cursor: str | None,
        limit: int,
    ) -> DispatchesAnswer:
        if mission_id is not None:
            principal.require_mission(mission_id)
        position = DispatchCursor.read(cursor)
        rows = await self._database.run(
            principal.tenant,
            lambda c: queries.dispatches(
                c,
                principal,
                mission_id=mission_id,
                agent_name=agent_name,
                status=status,
                since=utc(since, "since"),
                before=None if position is None else position.id,
                limit=limit + 1,
            ),
            deadline,
        )
        page = page_of(rows, limit, lambda row: DispatchCursor(id=row["id"]))
        return DispatchesAnswer([_seen(principal, row) for row in page.rows], page.next)

    async def sweep_forever(self) -> None:
        seconds = max(1.0, self._stale_minutes * 60 / _LOOKS)
        await every(seconds, "closing of stale dispatches", self.sweep)

    async def sweep(self) -> int:
        """Returns how many dispatches this replica closed as stale."""
        tenants = await self._database.run(
            EVERY_TENANT, lambda c: queries.silent_tenants(c, self._stale_minutes), Deadline(_SWEEP_SECONDS)
        )
        return sum([await self._close_stale(tenant) for tenant in tenants])

    async def _close_stale(self, tenant: str) -> int:
        closed = 0
        while ids := await self._database.run(
            tenant, lambda c: queries.close_stale(c, tenant, self._stale_minutes), Deadline(_SWEEP_SECONDS)
        ):
            closed += len(ids)
            self._doorbell.ring(tenant)
        return closed

    async def _own(self, principal: Principal, dispatch_id: int, deadline: Deadline) -> Dispatch:
        """A dispatch that the principal may change. Raises NotFound, Forbidden."""
        dispatch = await self.get(principal, dispatch_id, deadline)
        principal.require_agent(dispatch.agent_name)
        return dispatch

    async def _change(
        self,
        principal: Principal,
        mission_id: str,
        key: Key | None,
        change: Work[Dispatch],
        deadline: Deadline,
        *,
        status: int,
    ) -> Dispatch:
        """The dispatch after the change, or as it is now if the key is repeated."""

        async def change_once(connection: Connection) -> DispatchId:
            return DispatchId((await change(connection)).id)

        if key is None:
            dispatch = await self._database.run(principal.tenant, change, deadline)
            self._doorbell.ring(principal.tenant)
            return dispatch
        kept = await self._keyed.once(
            principal.tenant, mission_id, key, DispatchId, change_once, deadline, status=status
        )
        self._doorbell.ring(principal.tenant)
        return await self.get(principal, kept.id, deadline)


def _seen(principal: Principal, row: asyncpg.Record) -> Dispatch:
    """A dispatch does not say whom its session is with, so a key of some users does not see the session."""
    dispatch = Dispatch(**row)
    return dispatch if principal.users is None else msgspec.structs.replace(dispatch, session_id=None)
