"""Reads and sets the languages of missions."""

from __future__ import annotations

import time
from collections.abc import Sequence

from services.cache.missions import queries
from services.cache.missions.queries import MissionKey
from services.cache.missions.schemas import MissionLanguage, MissionLanguages
from shared.auth import Principal
from shared.database import audit
from shared.database.audit import Deed
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.errors import Invalid, NotFound
from shared.text import Language, mission_problem

_SECONDS = 2.0
_MOST = 10_000
_NONE = MissionLanguages({}, any=False)


class Languages:
    def __init__(self, database: Database) -> None:
        self._database = database
        self._without: dict[str, float] = {}

    async def of(self, tenant: str, missions: Sequence[str], deadline: Deadline) -> MissionLanguages:
        """The languages of these missions. That no mission of a tenant has one is remembered for _SECONDS."""
        now = time.monotonic()
        if now - self._without.get(tenant, -_SECONDS) < _SECONDS:
            return _NONE

        async def work(c: Connection) -> MissionLanguages:
            found = await queries.languages(c, tenant, missions)
            known = {mission: language for mission, language in found.items() if language is not None}
            return MissionLanguages(known, any=bool(known) or await queries.has_languages(c, tenant))

        languages = await self._database.run(tenant, work, deadline)
        if not languages.any:
            if len(self._without) > _MOST:
                self._without.clear()
            self._without[tenant] = now
        return languages

    async def language(self, principal: Principal, mission_id: str, deadline: Deadline) -> MissionLanguage:
        principal.require_mission(mission_id)
        found = await self._database.run(
            principal.tenant, lambda c: queries.languages(c, principal.tenant, [mission_id]), deadline
        )
        if mission_id not in found:
            raise NotFound(f"no mission {mission_id!r}")
        return MissionLanguage(mission_id, found[mission_id])

    async def set_language(
        self, principal: Principal, mission_id: str, language: Language | None, deadline: Deadline
    ) -> MissionLanguage:
        """Raises Forbidden for a key of an agent or of users, because the language holds for everybody's texts."""
        if problem := mission_problem(mission_id):
            raise Invalid.field("mission_id", problem)
        principal.require_mission(mission_id)
        principal.require_every_agent()
        principal.require_every_user()
        mission = MissionKey(principal.tenant, mission_id)

        async def work(c: Connection) -> None:
            before = await queries.languages(c, mission.tenant, [mission_id])
            await queries.set_language(c, mission, language)
            deed = Deed(
                action="language_set",
                target=mission.scope,
                before={"language": before.get(mission_id)},
                after={"language": language},
            )
            await audit.record(c, principal, deed)

        await self._database.transaction(principal.tenant, work, deadline)
        # Other replicas follow within _SECONDS.
        self._without.pop(principal.tenant, None)
        return MissionLanguage(mission_id, language)
