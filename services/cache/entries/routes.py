"""HTTP of entries. The context service forwards `/api`; `/internal` is not public."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Any, Literal

from litestar import Request, delete, get, patch, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, Parameter

from services.cache.entries.queries import EntryFilter, entry_filter
from services.cache.entries.schemas import (
    BatchAnswer,
    BatchInput,
    ContextType,
    DeleteAnswer,
    EntriesAnswer,
    EntriesInput,
    EntryAnswer,
    QueryAnswer,
    QueryCacheInput,
    StoredTurns,
    TagsInput,
    TurnsInput,
    WriteAnswer,
    WriteCacheInput,
)
from services.cache.entries.search import CacheSearch
from services.cache.entries.service import EntryService
from services.cache.entries.writing import EntryWriter
from shared.paging.parameters import DEFAULT_LIMIT, CursorText, Limit, Since, Until
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.idempotency_key import key_of
from shared.web.operations import KEYED, READ, WRITE, problems, reads

_WAIT = Parameter(description="Answer only when search also finds it by meaning, or at the deadline.")
ContextTypes = Annotated[
    list[ContextType] | None, Parameter(description="Entries of this type only; may be given several times.")
]
TagNames = Annotated[
    list[str] | None, Parameter(description="Entries with this tag; given several times, with any of them.")
]
AgentName = Annotated[
    str | None, Parameter(min_length=1, max_length=200, description="Entries that this agent wrote.")
]
MissionName = Annotated[str | None, Parameter(min_length=1, max_length=200, description="Of this mission.")]
EntryId = Annotated[int, Parameter(ge=1, le=2**63 - 1)]


@post("/write", opt=WRITE | KEYED | problems(409), status_code=201)
async def write(
    request: Request[Any, Any, Any],
    data: JSONBody[WriteCacheInput],
    writer: NamedDependency[EntryWriter],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    wait: Annotated[Literal["indexed"] | None, _WAIT] = None,
) -> WriteAnswer:
    """Write an entry. Search finds it by text at once, and by meaning as soon as it is indexed."""
    key = await key_of(request)
    return WriteAnswer(await writer.write(principal, data, key, deadline, wait_indexed=wait == "indexed"))


@post("/write/batch", opt=WRITE | KEYED | reads(json=EntriesInput), status_code=200)
async def write_batch(
    request: Request[Any, Any, Any],
    data: JSONBody[BatchInput],
    writer: NamedDependency[EntryWriter],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> BatchAnswer:
    """Write up to 100 entries. Each has its own result. Entries of the same mission are written in order."""
    key = await key_of(request)
    return BatchAnswer(await writer.write_batch(principal, data, key, deadline))


@post("/query", opt=READ | problems(403), status_code=200)
async def query(
    data: JSONBody[QueryCacheInput],
    search: NamedDependency[CacheSearch],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> QueryAnswer:
    """Search a mission's entries. Mission `*` means every mission that the key may read."""
    return QueryAnswer(await search.query(principal, data, deadline))


@get("/checkpoint/{session_id:path}", opt=READ | problems(403, 404))
async def checkpoint(
    session_id: FromPath[str],
    entries: NamedDependency[EntryService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    mission_id: MissionName = None,
    agent_name: AgentName = None,
) -> EntryAnswer:
    """Get the newest thread_checkpoint of a session. A key bound to an agent gets that agent's."""
    found = await entries.checkpoint(
        principal, session_id.removeprefix("/"), deadline, mission_id=mission_id, agent_name=agent_name
    )
    return EntryAnswer(found)


@get("/all/entries", opt=READ)
async def all_entries(
    entries: NamedDependency[EntryService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    context_type: ContextTypes = None,
    tag: TagNames = None,
    agent_name: AgentName = None,
    since: Since = None,
    until: Until = None,
    cursor: CursorText = None,
    limit: Limit = DEFAULT_LIMIT,
) -> EntriesAnswer:
    """The live entries of all missions the key may read, newest first."""
    wanted = _filter(context_type, tag, agent_name, since, until)
    return await entries.of_all_missions(principal, wanted, cursor, limit, deadline)


@get("/all/entries/{entry_id:int}", opt=READ | problems(404))
async def entry(
    entry_id: EntryId, entries: NamedDependency[EntryService], principal: PrincipalDep, deadline: DeadlineDep
) -> EntryAnswer:
    """One entry."""
    return EntryAnswer(await entries.get(principal, entry_id, deadline))


@patch("/all/entries/{entry_id:int}", opt=WRITE | problems(404))
async def edit_tags(
    entry_id: EntryId,
    data: JSONBody[TagsInput],
    entries: NamedDependency[EntryService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> EntryAnswer:
    """Replace an entry's tags. Its content never changes."""
    return EntryAnswer(await entries.set_tags(principal, entry_id, data.tags, deadline))


@delete("/all/entries/{entry_id:int}", opt=WRITE | problems(404), status_code=200)
async def delete_entry(
    entry_id: EntryId, entries: NamedDependency[EntryService], principal: PrincipalDep, deadline: DeadlineDep
) -> DeleteAnswer:
    """Delete an entry, which frees its tokens."""
    return DeleteAnswer(await entries.delete(principal, entry_id, deadline))


@get("/{mission_id:str}/entries", opt=READ | problems(403))
async def mission_entries(
    mission_id: FromPath[str],
    entries: NamedDependency[EntryService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    context_type: ContextTypes = None,
    tag: TagNames = None,
    agent_name: AgentName = None,
    since: Since = None,
    until: Until = None,
    cursor: CursorText = None,
    limit: Limit = DEFAULT_LIMIT,
) -> EntriesAnswer:
    """List a mission's live entries, newest first."""
    wanted = _filter(context_type, tag, agent_name, since, until)
    return await entries.of_mission(principal, mission_id, wanted, cursor, limit, deadline)


def _filter(
    context_types: list[ContextType] | None,
    tags: list[str] | None,
    agent_name: str | None,
    since: datetime | None,
    until: datetime | None,
) -> EntryFilter:
    return entry_filter(
        context_types=context_types,
        tags=tags,
        agent_name=agent_name,
        dispatch_id=None,
        since=since,
        until=until,
    )


@post("/internal/turns", opt=READ, status_code=200, include_in_schema=False)
async def internal_turns(
    data: JSONBody[TurnsInput],
    entries: NamedDependency[EntryService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> StoredTurns:
    """The turns of a session that a mission already has."""
    return await entries.stored_turns(principal, data, deadline)
