"""HTTP of consolidation. The context service reads sessions, and hands their turns over on `/internal`."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Request, Router, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, Parameter
from litestar.types import ControllerRouterHandler

from services.agent_memory.consolidation.files import Files
from services.agent_memory.consolidation.runs import Runs
from services.agent_memory.consolidation.schemas import (
    BeginInput,
    Begun,
    ConsolidationChanges,
    ConsolidationRun,
    ConsolidationRuns,
    FileInput,
    LearnedFile,
    ReleaseInput,
    StepInput,
    Stepped,
    UndoneRun,
)
from services.agent_memory.consolidation.service import Consolidations
from shared.errors import NotFound
from shared.paging.parameters import DEFAULT_LIMIT, CursorText, Limit
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.idempotency_key import key_of
from shared.web.operations import KEYED, READ, WRITE, problems, takes

_MAX_ID = 2**63 - 1
FILE_SECONDS = 30.0


@get("", operation_id="memory_consolidations", opt=READ)
async def runs(
    consolidations: NamedDependency[Consolidations],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    session_id: Annotated[
        str | None, Parameter(max_length=200, description="Only runs over the session with this id.")
    ] = None,
    path: Annotated[str | None, Parameter(max_length=1_000, description="Only runs over this file.")] = None,
    cursor: CursorText = None,
    limit: Limit = DEFAULT_LIMIT,
) -> ConsolidationRuns:
    """List the runs of consolidation, newest first, with how much each opened, closed, confirmed and skipped."""
    return await consolidations.runs(principal, session_id, path, cursor, limit, deadline)


@get("/{run_id:int}", operation_id="memory_consolidation", opt=READ | problems(404))
async def run(
    run_id: FromPath[int],
    consolidations: NamedDependency[Consolidations],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> ConsolidationRun:
    """Get the report of a run."""
    return await consolidations.run(principal, _id(run_id), deadline)


@get("/{run_id:int}/changes", operation_id="memory_consolidation_changes", opt=READ | problems(404))
async def changes(
    run_id: FromPath[int],
    consolidations: NamedDependency[Consolidations],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    cursor: CursorText = None,
    limit: Limit = DEFAULT_LIMIT,
) -> ConsolidationChanges:
    """List the rows that a run opened, closed, confirmed or found disputed, with the turns that each comes from."""
    return await consolidations.changes(principal, _id(run_id), cursor, limit, deadline)


@post(
    "/{run_id:int}/undo",
    operation_id="memory_undo_consolidation",
    opt=WRITE | KEYED | problems(404),
    status_code=200,
)
async def undo(
    request: Request[Any, Any, Any],
    run_id: FromPath[int],
    consolidations: NamedDependency[Consolidations],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> UndoneRun:
    """Undo a run: withdraw exactly what it opened, and reopen what it closed.

    Rows that somebody changed after the run stay as they are. The session's events are not learned from again.
    """
    return await consolidations.undo(principal, _id(run_id), await key_of(request), deadline)


def _id(run_id: int) -> int:
    if not 0 < run_id <= _MAX_ID:
        raise NotFound(f"no run {run_id}")
    return run_id


@post("/begin", opt=WRITE, status_code=200, include_in_schema=False)
async def begin(
    data: JSONBody[BeginInput],
    consolidation_runs: NamedDependency[Runs],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> Begun:
    return await consolidation_runs.begin(principal, data, deadline)


@post("/step", opt=WRITE, status_code=200, include_in_schema=False)
async def step(
    data: JSONBody[StepInput],
    consolidation_runs: NamedDependency[Runs],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> Stepped:
    return await consolidation_runs.step(principal, data, deadline)


@post("/file", opt=WRITE | takes(FILE_SECONDS), status_code=200, include_in_schema=False)
async def file(
    data: JSONBody[FileInput],
    consolidation_files: NamedDependency[Files],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> LearnedFile:
    return await consolidation_files.learn(principal, data, deadline)


@post("/release", opt=WRITE, status_code=204, include_in_schema=False)
async def release(
    data: JSONBody[ReleaseInput],
    consolidation_runs: NamedDependency[Runs],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> None:
    await consolidation_runs.release(principal, data, deadline)


ROUTES: list[ControllerRouterHandler] = [
    Router("/api/memory/consolidations", route_handlers=[runs, run, changes, undo], tags=["consolidation"]),
    Router("/internal/consolidation", route_handlers=[begin, step, file, release]),
]
