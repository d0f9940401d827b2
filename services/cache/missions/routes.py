from __future__ import annotations

from typing import Annotated, Any

import msgspec
from litestar import Request, delete, get, post, put
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, Parameter

from services.cache.missions.languages import Languages
from services.cache.missions.schemas import (
    ChangedLimitsAnswer,
    ClearAnswer,
    ClearInput,
    ClearReason,
    LanguagesInput,
    LimitsAnswer,
    MissionLanguageAnswer,
    MissionLanguageInput,
    MissionLanguages,
    MissionLimits,
    MissionsAnswer,
    StatsAnswer,
)
from services.cache.missions.service import MissionService
from shared.body import decode
from shared.paging.parameters import DEFAULT_LIMIT, CursorText, Limit
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.operations import ADMIN, READ, WRITE, problems

_DRY_RUN = Parameter(description="Count what would be evicted, and change nothing.")
_CLEAR = msgspec.json.Decoder(ClearInput)
_REASON = Parameter(
    required=False,
    description="Why. Needed here, or as `reason` of a JSON body.",
)


@get("/all/missions", opt=READ)
async def missions(
    missions: NamedDependency[MissionService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    cursor: CursorText = None,
    limit: Limit = DEFAULT_LIMIT,
) -> MissionsAnswer:
    """List the missions that the key may read, by name, with their budgets and what they hold."""
    return await missions.list(principal, cursor, limit, deadline)


@get("/{mission_id:str}/stats", opt=READ | problems(403, 404))
async def stats(
    mission_id: FromPath[str],
    missions: NamedDependency[MissionService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> StatsAnswer:
    """Count what a mission holds by type and agent, its budgets, and the entries it no longer holds."""
    return StatsAnswer(await missions.stats(principal, mission_id, deadline))


@get("/{mission_id:str}/limits", opt=READ | problems(403, 404))
async def limits(
    mission_id: FromPath[str],
    missions: NamedDependency[MissionService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> LimitsAnswer:
    """The budgets and the time to live in force in a mission, and whether each is its own or the default."""
    return LimitsAnswer(await missions.limits(principal, mission_id, deadline))


@put("/{mission_id:str}/limits", opt=ADMIN)
async def set_limits(
    mission_id: FromPath[str],
    data: JSONBody[MissionLimits],
    missions: NamedDependency[MissionService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    dry_run: Annotated[bool, _DRY_RUN] = False,
) -> ChangedLimitsAnswer:
    """Set the budgets and the time to live of a mission; what is left out goes back to the installation's default.

    The oldest entries beyond the new budgets are evicted at once.
    """
    return ChangedLimitsAnswer(
        await missions.set_limits(principal, mission_id, data, deadline, dry_run=dry_run)
    )


@get("/{mission_id:str}/language", opt=READ | problems(403, 404))
async def language(
    mission_id: FromPath[str],
    languages: NamedDependency[Languages],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> MissionLanguageAnswer:
    """The language of a mission's texts and of questions about it, where neither they nor their writer tells it."""
    return MissionLanguageAnswer(await languages.language(principal, mission_id, deadline))


@put("/{mission_id:str}/language", opt=ADMIN)
async def set_language(
    mission_id: FromPath[str],
    data: JSONBody[MissionLanguageInput],
    languages: NamedDependency[Languages],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> MissionLanguageAnswer:
    """Set the language of a mission's texts and questions that are too short to tell it, from now on.

    It goes before the tenant's. A `language` in a request wins over both, and so does a text that is clearly in another
    language.
    """
    return MissionLanguageAnswer(await languages.set_language(principal, mission_id, data.language, deadline))


@post("/internal/languages", opt=READ, status_code=200, include_in_schema=False)
async def internal_languages(
    data: JSONBody[LanguagesInput],
    languages: NamedDependency[Languages],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> MissionLanguages:
    """The languages of missions, for questions about them."""
    for mission in data.missions:
        principal.require_mission(mission)
    return await languages.of(principal.tenant, data.missions, deadline)


@delete("/{mission_id:str}", opt=WRITE | problems(408, 413), status_code=200)
async def clear(
    request: Request[Any, Any, Any],
    mission_id: FromPath[str],
    missions: NamedDependency[MissionService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    reason: Annotated[ClearReason | None, _REASON] = None,
) -> ClearAnswer:
    """Delete a mission's entries. The reason is required, in the query or the body, and the timeline keeps it."""
    given = reason or decode(await request.body() or b"{}", _CLEAR).reason
    return ClearAnswer(await missions.clear(principal, mission_id, given, deadline))
