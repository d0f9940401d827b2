"""HTTP of checkpoints. What writes may be sent again: it says what is to be there."""

from __future__ import annotations

from litestar import Router, post, put
from litestar.di import NamedDependency
from litestar.params import JSONBody

from services.cache.checkpoints.schemas import (
    Checkpoints,
    CopiedThread,
    CopyThreadInput,
    ListCheckpointsInput,
    PrunedThreads,
    PruneThreadsInput,
    PutCheckpointInput,
    PutWritesInput,
    StoredCheckpoint,
    StoredWrites,
)
from services.cache.checkpoints.service import CheckpointService
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.operations import READ, WRITE, problems


@put("/", operation_id="checkpoints_put", opt=WRITE)
async def put_checkpoint(
    data: JSONBody[PutCheckpointInput],
    checkpoints: NamedDependency[CheckpointService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> StoredCheckpoint:
    """Store the state of a graph, or replace it. Its thread begins with the first, and is kept until it expires."""
    return await checkpoints.put(principal, data, deadline)


@put("/writes", operation_id="checkpoints_put_writes", opt=WRITE)
async def put_writes(
    data: JSONBody[PutWritesInput],
    checkpoints: NamedDependency[CheckpointService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> StoredWrites:
    """Store what a task wrote after a checkpoint, so that it need not run again."""
    return await checkpoints.put_writes(principal, data, deadline)


@post("/list", operation_id="checkpoints_list", opt=READ | problems(403), status_code=200)
async def list_checkpoints(
    data: JSONBody[ListCheckpointsInput],
    checkpoints: NamedDependency[CheckpointService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> Checkpoints:
    """List checkpoints with what tasks wrote after them, newest first."""
    return await checkpoints.list_checkpoints(principal, data, deadline)


@put("/copy", operation_id="checkpoints_copy", opt=WRITE | problems(404))
async def copy_thread(
    data: JSONBody[CopyThreadInput],
    checkpoints: NamedDependency[CheckpointService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> CopiedThread:
    """Copy a thread with all its checkpoints to another thread of the same parties."""
    return await checkpoints.copy(principal, data, deadline)


@put("/prune", operation_id="checkpoints_prune", opt=WRITE)
async def prune_threads(
    data: JSONBody[PruneThreadsInput],
    checkpoints: NamedDependency[CheckpointService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> PrunedThreads:
    """Erase threads, all but the newest checkpoints of threads, or what runs made. What is not there is no error."""
    return await checkpoints.prune(principal, data, deadline)


CHECKPOINTS = Router(
    "/api/checkpoints",
    route_handlers=[put_checkpoint, put_writes, list_checkpoints, copy_thread, prune_threads],
    tags=["checkpoints"],
)
