"""The rules of missions: lists, statistics, limits, and clearing."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta

import asyncpg
import msgspec

from services.cache.missions import queries
from services.cache.missions.queries import DefaultLimits, MissionKey
from services.cache.missions.schemas import (
    CacheStats,
    ChangedLimits,
    ClearReason,
    ClearResult,
    LimitsInForce,
    Mission,
    MissionCursor,
    MissionLimits,
    MissionsAnswer,
)
from shared.auth import Principal
from shared.concurrency import clock
from shared.database import audit
from shared.database.audit import Deed
from shared.database.doorbell import Doorbell
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.errors import Invalid, NotFound
from shared.paging.pages import page_of
from shared.telemetry import tracing
from shared.text import mission_problem

_A_YEAR = 366 * 24 * 3600


class _DryRunDone(Exception):
    """Ends a transaction without its changes."""

    def __init__(self, changed: ChangedLimits) -> None:
        super().__init__("dry run")
        self.changed = changed


class MissionService:
    def __init__(
        self,
        database: Database,
        doorbell: Doorbell,
        *,
        model: str,
        limits: DefaultLimits,
        index_seconds_left: Callable[[], float],
    ) -> None:
        """The statistics count the entries that lack vectors of `model`."""
        self._database = database
        self._doorbell = doorbell
        self._model = model
        self._limits = limits
        self._index_seconds_left = index_seconds_left

    async def list(
        self, principal: Principal, cursor: str | None, limit: int, deadline: Deadline
    ) -> MissionsAnswer:
        position = MissionCursor.read(cursor)
        rows = await self._database.run(
            principal.tenant,
            lambda c: queries.missions(
                c,
                principal.tenant,
                principal.seen_missions(),
                after=None if position is None else position.mission_id,
                limit=limit + 1,
                defaults=self._limits,
            ),
            deadline,
        )
        page = page_of(rows, limit, lambda row: MissionCursor(mission_id=row["mission_id"]))
        return MissionsAnswer([Mission(**row) for row in page.rows], page.next)

    async def stats(self, principal: Principal, mission_id: str, deadline: Deadline) -> CacheStats:
        mission = _granted(principal, mission_id)
        row = await self._database.run(
            principal.tenant,
            lambda c: queries.stats(c, mission, model=self._model, defaults=self._limits),
            deadline,
        )
        if row is None:
            raise NotFound(f"no mission {mission_id!r}")
        return CacheStats(**row, vectors_expected_at=self._vectors_expected_at(row["unindexed_count"]))

    def _vectors_expected_at(self, unindexed: int) -> datetime | None:
        seconds = self._index_seconds_left()
        return clock.now() + timedelta(seconds=seconds) if unindexed and seconds < _A_YEAR else None

    async def limits(self, principal: Principal, mission_id: str, deadline: Deadline) -> LimitsInForce:
        mission = _granted(principal, mission_id)
        row = await self._database.run(
            principal.tenant, lambda c: queries.limits(c, mission, self._limits), deadline
        )
        return _in_force(mission, row)

    async def set_limits(
        self,
        principal: Principal,
        mission_id: str,
        limits: MissionLimits,
        deadline: Deadline,
        *,
        dry_run: bool = False,
    ) -> ChangedLimits:
        """Evicts entries where the mission holds more than the new limits allow; a dry run counts them only."""
        if problem := mission_problem(mission_id):
            raise Invalid.field("mission_id", problem)
        mission = _whole(principal, mission_id)

        async def change(connection: Connection) -> ChangedLimits:
            before = await queries.limits(connection, mission, self._limits)
            await queries.set_limits(connection, mission, limits)
            evicted = await queries.shrink_mission(connection, mission, self._limits)
            now = _in_force(mission, await queries.limits(connection, mission, self._limits))
            changed = ChangedLimits(**msgspec.structs.asdict(now), evicted_count=evicted, dry_run=dry_run)
            if dry_run:
                raise _DryRunDone(changed)
            await audit.record(connection, principal, _limits_set(mission, before, changed))
            return changed

        try:
            return await self._database.transaction(principal.tenant, change, deadline)
        except _DryRunDone as done:
            return done.changed

    @tracing.memory("delete_memory", "cache")
    async def clear(
        self, principal: Principal, mission_id: str, reason: ClearReason, deadline: Deadline
    ) -> ClearResult:
        mission = _whole(principal, mission_id)

        async def clear(connection: Connection) -> asyncpg.Record:
            # Without the lock, entries of a writer that is creating the mission would stay, uncounted.
            locked = await queries.lock_mission(connection, mission)
            erase = queries.clear if locked else queries.clear_nothing
            row = await erase(connection, mission, reason=reason, agent=principal.agent)
            deed = Deed(action="clear", target=mission.scope, after={"reason": reason, **row})
            await audit.record(connection, principal, deed)
            return row

        row = await self._database.transaction(principal.tenant, clear, deadline)
        self._doorbell.ring(principal.tenant)
        return ClearResult(**row)


def _in_force(mission: MissionKey, row: asyncpg.Record | None) -> LimitsInForce:
    if row is None:
        raise NotFound(f"no mission {mission.mission_id!r}")
    return msgspec.convert(dict(row), LimitsInForce)


def _limits_set(mission: MissionKey, before: asyncpg.Record | None, after: ChangedLimits) -> Deed:
    kept = ("token_budget", "entry_budget", "ttl_hours", "origins")
    return Deed(
        action="limits_set",
        target=mission.scope,
        before=None if before is None else {name: before[name] for name in kept},
        after={name: getattr(after, name) for name in (*kept, "evicted_count")},
    )


def _granted(principal: Principal, mission_id: str) -> MissionKey:
    """Raises Forbidden for a mission that the key has no grant for."""
    principal.require_mission(mission_id)
    return MissionKey(principal.tenant, mission_id)


def _whole(principal: Principal, mission_id: str) -> MissionKey:
    """For changes that erase entries of any agent and about any user. Raises Forbidden."""
    mission = _granted(principal, mission_id)
    principal.require_every_agent()
    principal.require_every_user()
    return mission
