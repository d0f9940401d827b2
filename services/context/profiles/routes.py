from __future__ import annotations

from typing import Annotated

from litestar import Router, delete, get, put
from litestar.di import NamedDependency
from litestar.params import JSONBody, Parameter

from services.context.profiles.schemas import Profile, ProfileInput, Profiles, subjects
from services.context.profiles.service import ProfileService
from shared.paging.parameters import DEFAULT_LIMIT, CursorText, Limit
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.operations import READ, WRITE, problems

OptionalName = Annotated[str | None, Parameter(min_length=1, max_length=200)]


@get("/", opt=READ | problems(403))
async def profiles(
    profile_service: NamedDependency[ProfileService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    agent_name: OptionalName = None,
    user_id: OptionalName = None,
    cursor: CursorText = None,
    limit: Limit = DEFAULT_LIMIT,
) -> Profiles:
    """List the profiles that the key may read, or that of an agent or a user."""
    scopes = subjects(agent_name, user_id)
    return await profile_service.list(principal, scopes, cursor, limit, deadline)


@put("/", opt=WRITE)
async def set_profile(
    profile_service: NamedDependency[ProfileService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    data: JSONBody[ProfileInput],
) -> Profile:
    """Set what every block for an agent or a user says first. A key bound to the subject sets its own, an admin any."""
    return await profile_service.put(principal, data, deadline)


@delete("/", opt=WRITE)
async def delete_profile(
    profile_service: NamedDependency[ProfileService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    agent_name: OptionalName = None,
    user_id: OptionalName = None,
) -> None:
    """Delete the profile of an agent or a user."""
    await profile_service.delete(principal, subjects(agent_name, user_id), deadline)


PROFILES = Router("/profiles", route_handlers=[profiles, set_profile, delete_profile])
