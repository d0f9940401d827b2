"""HTTP of the vault. The context service forwards `/api`; `/internal` is not public."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Request, Router, delete, get, post
from litestar.di import NamedDependency
from litestar.params import FromPath, JSONBody, Parameter
from litestar.types import ControllerRouterHandler

from services.agent_memory.vault.folder_index.progress import LastRun
from services.agent_memory.vault.folder_index.service import FolderIndex
from services.agent_memory.vault.schemas import (
    FileLines,
    FilePartAnswer,
    FoundFiles,
    Links,
    LinksRequest,
    PutFileInput,
    PutFileResult,
    RemovedFile,
    SearchVaultInput,
    VaultFiles,
)
from services.agent_memory.vault.search import VaultSearch
from services.agent_memory.vault.service import Vault
from services.agent_memory.vault.uploads import Uploads
from shared.errors import NotFound
from shared.paging.parameters import DEFAULT_LIMIT, CursorText, Limit
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.idempotency_key import key_of
from shared.web.operations import KEYED, READ, WRITE, problems, takes

_MAX_ID = 2**63 - 1
# As long as the context service waits for this path.
_PUT_SECONDS = 30.0
_Path = Annotated[str, Parameter(min_length=1, max_length=1_000, description="The path of the file.")]
_Location = Annotated[
    str,
    Parameter(
        min_length=1,
        max_length=1_020,
        description="The path of the file, and the lines to read: `path#L10-L40`. By default, all lines.",
    ),
]


@post(
    "/files",
    operation_id="vault_put",
    opt=WRITE | KEYED | takes(_PUT_SECONDS) | problems(409),
    status_code=201,
)
async def put(
    request: Request[Any, Any, Any],
    data: JSONBody[PutFileInput],
    uploads: NamedDependency[Uploads],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> PutFileResult:
    """Store a text file in the vault, where search and assembly find it. The same text again changes nothing.

    A larger file comes in pieces, in order.
    """
    return await uploads.put(principal, data, await key_of(request), deadline)


@get("/files", operation_id="vault_list", opt=READ)
async def list_files(
    vault: NamedDependency[Vault],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    folder: Annotated[
        str | None,
        Parameter(min_length=1, max_length=1_000, description="Only files whose path begins so."),
    ] = None,
    cursor: CursorText = None,
    limit: Limit = DEFAULT_LIMIT,
) -> VaultFiles:
    """List the files that can be found, by path."""
    return await vault.list_files(principal, folder, cursor, limit, deadline)


@delete("/files", operation_id="vault_remove", opt=WRITE | KEYED | problems(404, 409), status_code=200)
async def remove(
    request: Request[Any, Any, Any],
    path: _Path,
    vault: NamedDependency[Vault],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> RemovedFile:
    """Remove an uploaded file. One that is indexed from the tenant's folder has to be removed there."""
    return await vault.remove(principal, path, await key_of(request), deadline)


@get("/files/{file_id:int}", operation_id="vault_part", opt=READ | problems(404))
async def part(
    file_id: FromPath[int], vault: NamedDependency[Vault], principal: PrincipalDep, deadline: DeadlineDep
) -> FilePartAnswer:
    """Get the part of a file behind a handle `vault:<id>`."""
    if not 0 < file_id <= _MAX_ID:
        raise NotFound(f"no part {file_id} of a file")
    return await vault.get(principal, file_id, deadline)


@get("/read", operation_id="vault_read", opt=READ | problems(404))
async def read(
    path: _Location, vault: NamedDependency[Vault], principal: PrincipalDep, deadline: DeadlineDep
) -> FileLines:
    """Read lines of a file: as they are indexed, or else from the tenant's folder."""
    return await vault.read(principal, path, deadline)


@post("/search", operation_id="vault_search", opt=READ | problems(403), status_code=200)
async def search(
    data: JSONBody[SearchVaultInput],
    vault_search: NamedDependency[VaultSearch],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> FoundFiles:
    """Search the files that the key may read. Answers the best passage of each, the most relevant first."""
    return await vault_search.query(principal, data, deadline)


@get("/index", operation_id="vault_index", opt=READ | problems(403))
async def last_run(
    folder_index: NamedDependency[FolderIndex], principal: PrincipalDep, deadline: DeadlineDep
) -> LastRun:
    """How far the last run over the tenant's folder is, and which files it refused, each with the reason."""
    return await folder_index.last(principal, deadline)


@post("/internal/links", opt=READ, status_code=200, include_in_schema=False)
async def links(
    data: JSONBody[LinksRequest],
    vault: NamedDependency[Vault],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> Links:
    return Links(await vault.linked(principal, data, deadline))


ROUTES: list[ControllerRouterHandler] = [
    Router(
        "/api/vault", route_handlers=[put, list_files, remove, part, read, search, last_run], tags=["vault"]
    ),
    links,
]
