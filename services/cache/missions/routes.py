"""HTTP of the cache service. `/api` is public (forwarded by the context service); `/internal` is not."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import msgspec
from litestar import Request, Router, delete, get, patch, post, put
from litestar.di import NamedDependency
from litestar.params import FromPath, FromQuery, JSONBody, Parameter
from litestar.types import ControllerRouterHandler

from services.cache.dispatches.routes import DISPATCHES
from services.cache.missions.schemas import (
    BatchAnswer,
    BatchInput,
    ClearAnswer,
    ClearReason,
    DeleteAnswer,
    EntriesAnswer,
    EntriesInput,
    EntryAnswer,
    LimitsAnswer,
    MissionLimits,
    MissionsAnswer,
    QueryAnswer,
    QueryCacheInput,
    StatsAnswer,
    StoredTurns,
    TagsInput,
    TurnsInput,
    WriteAnswer,
    WriteCacheInput,
)
from services.cache.missions.service import CacheService
from shared.body import decode
from shared.errors import Invalid
from shared.search.evidence import SearchRequest, SearchResult
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.idempotency_key import key_of
from shared.web.operations import ADMIN, KEYED, READ, WRITE, problems, reads

_ANY = msgspec.json.Decoder()
_WAIT = Parameter(description="Answer when it is found by meaning too, or at the deadline.")
_AFTER = Parameter(description="The last mission of the page before.")
_REASON = Parameter(
    required=False,
    description="mission_complete, superseded, contaminated or operator. Needed here, or as `reason` of a JSON body.",
)
EntryId = Annotated[int, Parameter(ge=1, le=2**63 - 1)]


@post("/write", opt=WRITE | KEYED | problems(409), status_code=201)
async def write(
    request: Request[Any, Any, Any],
    data: JSONBody[WriteCacheInput],
    service: NamedDependency[CacheService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    wait: Annotated[Literal["indexed"] | None, _WAIT] = None,
) -> WriteAnswer:
    """Write one entry. It is found by text at once and by meaning as soon as it is indexed."""
    key = await key_of(request)
    return WriteAnswer(await service.write(principal, data, key, deadline, wait_indexed=wait == "indexed"))


@post("/write/batch", opt=WRITE | KEYED | reads(json=EntriesInput), status_code=200)
async def write_batch(
    request: Request[Any, Any, Any],
    data: JSONBody[BatchInput],
    service: NamedDependency[CacheService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> BatchAnswer:
    """Write up to 100 entries. Each has its own result; those of one mission are written in order."""
    key = await key_of(request)
    return BatchAnswer(await service.write_batch(principal, data, key, deadline))


@post("/query", opt=READ | problems(403), status_code=200)
async def query(
    data: JSONBody[QueryCacheInput],
    service: NamedDependency[CacheService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> QueryAnswer:
    """Search a mission's entries; mission `*` is every mission the key may read."""
    return QueryAnswer(await service.search.query(principal, data, deadline))


@get("/checkpoint/{session_id:path}", opt=READ | problems(404))
async def checkpoint(
    session_id: FromPath[str],
    service: NamedDependency[CacheService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> EntryAnswer:
    """The newest thread_checkpoint of a session."""
    return EntryAnswer(await service.checkpoint(principal, session_id.removeprefix("/"), deadline))


@get("/all/entries", opt=READ)
async def all_entries(
    service: NamedDependency[CacheService], principal: PrincipalDep, deadline: DeadlineDep
) -> EntriesAnswer:
    """The newest 100 entries of all missions the key may read."""
    return EntriesAnswer(await service.recent(principal, deadline))


@get("/all/missions", opt=READ)
async def missions(
    service: NamedDependency[CacheService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    after: Annotated[str | None, _AFTER] = None,
    limit: Annotated[int, Parameter(ge=1, le=1_000)] = 100,
) -> MissionsAnswer:
    """The missions the key may read, by name, with their budgets and what they hold."""
    return await service.missions(principal, after, limit, deadline)


@get("/all/entries/{entry_id:int}", opt=READ | problems(404))
async def entry(
    entry_id: EntryId, service: NamedDependency[CacheService], principal: PrincipalDep, deadline: DeadlineDep
) -> EntryAnswer:
    """One entry."""
    return EntryAnswer(await service.entry(principal, entry_id, deadline))


@patch("/all/entries/{entry_id:int}", opt=WRITE | problems(404))
async def edit_tags(
    entry_id: EntryId,
    data: JSONBody[TagsInput],
    service: NamedDependency[CacheService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> EntryAnswer:
    """Replace an entry's tags; what was said stays as it was said."""
    return EntryAnswer(await service.set_tags(principal, entry_id, data.tags, deadline))


@delete("/all/entries/{entry_id:int}", opt=WRITE | problems(404), status_code=200)
async def delete_entry(
    entry_id: EntryId, service: NamedDependency[CacheService], principal: PrincipalDep, deadline: DeadlineDep
) -> DeleteAnswer:
    """Delete one entry; its tokens are free for others."""
    return DeleteAnswer(await service.delete(principal, entry_id, deadline))


@get("/{mission_id:str}/entries", opt=READ | problems(403))
async def mission_entries(
    mission_id: FromPath[str],
    service: NamedDependency[CacheService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> EntriesAnswer:
    """A mission's live entries, newest first."""
    return EntriesAnswer(await service.of_mission(principal, mission_id, deadline))


@get("/{mission_id:str}/stats", opt=READ | problems(403, 404))
async def stats(
    mission_id: FromPath[str],
    service: NamedDependency[CacheService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> StatsAnswer:
    """What a mission holds, by type and agent, beside its budgets, and what became of the rest."""
    return StatsAnswer(await service.stats(principal, mission_id, deadline))


@put("/{mission_id:str}/limits", opt=ADMIN)
async def set_limits(
    mission_id: FromPath[str],
    data: JSONBody[MissionLimits],
    service: NamedDependency[CacheService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> LimitsAnswer:
    """Budgets and time to live of one mission; what is left out goes back to the installation's default."""
    await service.set_limits(principal, mission_id, data, deadline)
    return LimitsAnswer(data)


@delete("/{mission_id:str}", opt=WRITE | problems(408, 413), status_code=200)
async def clear(
    request: Request[Any, Any, Any],
    mission_id: FromPath[str],
    service: NamedDependency[CacheService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    reason: Annotated[str | None, _REASON] = None,
) -> ClearAnswer:
    """Delete a mission's entries. The reason is required, in the query or the body, and kept in the timeline."""
    given = reason if reason is not None else _reason_in(await request.body())
    try:
        known = msgspec.convert(given, ClearReason)
    except msgspec.ValidationError as error:
        raise Invalid.field(
            "reason", "must be mission_complete, superseded, contaminated or operator"
        ) from error
    return ClearAnswer(await service.clear(principal, mission_id, known, deadline))


def _reason_in(body: bytes) -> Any:
    document = decode(body, _ANY) if body else {}
    return document.get("reason") if isinstance(document, dict) else None


@post("/internal/search", opt=READ, status_code=200, include_in_schema=False)
async def search(
    data: JSONBody[SearchRequest],
    service: NamedDependency[CacheService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> SearchResult:
    return await service.search.search(principal, data, deadline)


@post("/internal/turns", opt=READ, status_code=200, include_in_schema=False)
async def turns(
    data: JSONBody[TurnsInput],
    service: NamedDependency[CacheService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> StoredTurns:
    """Which turns of a session a mission has."""
    return await service.stored_turns(principal, data, deadline)


@post("/internal/purge", opt=ADMIN, status_code=200, include_in_schema=False)
async def purge(
    purged: FromQuery[str],
    service: NamedDependency[CacheService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    agent: FromQuery[str | None] = None,
    user: FromQuery[str | None] = None,
) -> dict[str, int]:
    return await service.purge(principal, purged, agent, user, deadline)


ROUTES: list[ControllerRouterHandler] = [
    Router(
        "/api/psychic-cache",
        route_handlers=[
            write,
            write_batch,
            query,
            checkpoint,
            all_entries,
            missions,
            entry,
            edit_tags,
            delete_entry,
            mission_entries,
            stats,
            set_limits,
            clear,
        ],
        tags=["cache"],
    ),
    DISPATCHES,
    search,
    turns,
    purge,
]
