"""The routes of the cache service. The context service forwards `/api`; `/internal` is not public."""

from __future__ import annotations

from litestar import Router, post
from litestar.di import NamedDependency
from litestar.params import FromQuery
from litestar.types import ControllerRouterHandler

from services.cache.checkpoints.routes import CHECKPOINTS
from services.cache.dispatches.routes import DISPATCHES
from services.cache.entries import routes as entry_routes
from services.cache.missions import routes as mission_routes
from services.cache.persistent.routes import KEEPING, PERSISTENT
from services.cache.purge import Purge
from services.cache.sessions.routes import SESSIONS
from services.cache.sessions.trail.routes import internal_events
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.internal import (
    internal_backlog,
    internal_review,
    internal_review_decide,
    internal_search,
    internal_states,
)
from shared.web.operations import ADMIN


@post("/internal/purge", opt=ADMIN, status_code=200, include_in_schema=False)
async def internal_purge(
    purged: FromQuery[str],
    purge: NamedDependency[Purge],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    agent: FromQuery[str | None] = None,
    user: FromQuery[str | None] = None,
) -> dict[str, int]:
    return await purge.purge(principal, purged, agent, user, deadline)


@post("/internal/purge/tenant", opt=ADMIN, status_code=200, include_in_schema=False)
async def internal_purge_tenant(
    purge: NamedDependency[Purge], principal: PrincipalDep, deadline: DeadlineDep
) -> dict[str, int]:
    return await purge.purge_tenant(principal, deadline)


ROUTES: list[ControllerRouterHandler] = [
    Router(
        "/api/psychic-cache",
        route_handlers=[
            entry_routes.write,
            entry_routes.write_batch,
            entry_routes.query,
            entry_routes.checkpoint,
            entry_routes.all_entries,
            mission_routes.missions,
            entry_routes.entry,
            entry_routes.edit_tags,
            entry_routes.delete_entry,
            entry_routes.mission_entries,
            mission_routes.stats,
            mission_routes.limits,
            mission_routes.set_limits,
            mission_routes.language,
            mission_routes.set_language,
            mission_routes.clear,
        ],
        tags=["missions"],
    ),
    DISPATCHES,
    SESSIONS,
    KEEPING,
    PERSISTENT,
    CHECKPOINTS,
    internal_search,
    internal_states,
    internal_backlog,
    internal_review,
    internal_review_decide,
    entry_routes.internal_turns,
    mission_routes.internal_languages,
    internal_events,
    internal_purge,
    internal_purge_tenant,
]
