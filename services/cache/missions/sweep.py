"""Deletes expired entries, which readers never see, and keeps the missions' counters exact."""

from __future__ import annotations

from functools import partial

from services.cache.missions import queries
from services.cache.missions.queries import MissionKey
from shared.concurrency.tasks import every
from shared.database.postgres import EVERY_TENANT, Database, T, Work
from shared.deadline import Deadline

_SECONDS = 30.0


class ExpirySweep:
    def __init__(self, database: Database, minutes: float) -> None:
        self._database = database
        self._minutes = minutes

    async def run_forever(self) -> None:
        await every(self._minutes * 60, "sweep of expired entries", self.sweep)

    async def sweep(self) -> int:
        """Returns how many missions had expired entries."""
        at = await self._run(queries.now)
        swept, last = 0, MissionKey("", "")
        while missions := await self._run(partial(queries.expired_missions, at=at, after=last)):
            for mission in missions:
                await self._run(partial(queries.expire_mission, mission=mission, at=at))
            swept, last = swept + len(missions), missions[-1]
        return swept

    async def _run(self, work: Work[T]) -> T:
        return await self._database.run(EVERY_TENANT, work, Deadline(_SECONDS))
