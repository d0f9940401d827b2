"""Stores, lists, reads and removes the vault's files."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import asyncpg

from services.agent_memory.transactions import Transactions
from services.agent_memory.vault import queries, queries_write
from services.agent_memory.vault.disk.files import MAX_BYTES
from services.agent_memory.vault.disk.links import read_files
from services.agent_memory.vault.folders import (
    is_operators,
    lines_of,
    path_problem,
    require_folder,
    scope_of,
)
from services.agent_memory.vault.graph.facts import facts_of, replace_facts
from services.agent_memory.vault.reading import LAST_LINE, Lines, lines_of_text, of_passages
from services.agent_memory.vault.schemas import (
    FileCursor,
    FileLines,
    FilePart,
    FilePartAnswer,
    LinkedFile,
    LinksRequest,
    RemovedFile,
    VaultFile,
    VaultFiles,
)
from shared.auth import Principal
from shared.database.idempotency import Key
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.errors import Conflict, NotFound
from shared.paging.pages import page_of

# Passages that are read for one answer: about its most characters.
_MOST_PASSAGES = 150


class Vault:
    """The indexed files of all tenants, and their folders `<root>/<tenant>`. Without a root, no folder is read."""

    def __init__(self, database: Database, transactions: Transactions, root: Path | None) -> None:
        self._database = database
        self._transactions = transactions
        self._root = root

    async def list_files(
        self,
        principal: Principal,
        folder: str | None,
        cursor: str | None,
        limit: int,
        deadline: Deadline,
    ) -> VaultFiles:
        """By path."""
        after = FileCursor.read(cursor)
        rows = await self._database.run(
            principal.tenant,
            lambda c: queries.list_files(
                c,
                principal.tenant,
                after=None if after is None else after.path,
                folder=folder,
                scopes=principal.own_scopes(),
                limit=limit + 1,
            ),
            deadline,
        )
        page = page_of(rows, limit, lambda row: FileCursor(path=row["path"]))
        return VaultFiles([VaultFile(**dict(row)) for row in page.rows], page.next)

    async def get(self, principal: Principal, file_id: int, deadline: Deadline) -> FilePartAnswer:
        row = await self._database.run(
            principal.tenant,
            lambda c: queries.part(c, principal.tenant, file_id, principal.own_scopes()),
            deadline,
        )
        if row is None:
            raise NotFound(f"no part {file_id} of a file")
        return FilePartAnswer(FilePart(**dict(row)))

    async def read(self, principal: Principal, location: str, deadline: Deadline) -> FileLines:
        """The lines of `path#L10-L40`, or of the whole file: from the index, or else from the folder.

        Raises NotFound, for a file that the key may not read, too.
        """
        path, first, last = lines_of(location)
        wanted = first or 1, last or LAST_LINE
        lines = await self._indexed_lines(principal, path, *wanted, deadline)
        indexed = lines is not None
        if lines is None:
            (file,) = await asyncio.to_thread(read_files, self._root, principal, [path], MAX_BYTES)
            if file.refused is None:
                lines = lines_of_text(file.text, *wanted)
        if lines is None:
            raise NotFound(f"no file {location!r} in the vault")
        more = lines.last + 1 if lines.more else None
        return FileLines(path, lines.first, lines.last, lines.text, indexed, more)

    async def _indexed_lines(
        self, principal: Principal, path: str, first: int, last: int, deadline: Deadline
    ) -> Lines | None:
        async def work(c: Connection) -> Sequence[asyncpg.Record]:
            return await queries.passages(
                c,
                principal.tenant,
                path,
                principal.own_scopes(),
                first=first,
                last=last,
                limit=_MOST_PASSAGES,
            )

        rows = await self._database.run(principal.tenant, work, deadline)
        return of_passages(rows, first, last, ends=len(rows) < _MOST_PASSAGES)

    async def remove(
        self, principal: Principal, path: str, key: Key | None, deadline: Deadline
    ) -> RemovedFile:
        """Removes an uploaded file. Raises NotFound, Forbidden, and Conflict for a file of the folder."""
        scope = scope_of(path)
        require_folder(principal, scope)

        async def work(c: Connection) -> RemovedFile:
            await queries_write.lock_path(c, principal.tenant, path)
            stored = await queries_write.pieces(c, principal.tenant, path)
            if not stored:
                raise NotFound(f"no file {path!r} in the vault")
            require_uploaded(principal, stored)
            removed = await queries_write.remove(c, principal.tenant, path)
            await replace_facts(c, principal.tenant, [facts_of(path)], written_by=principal.key)
            await queries_write.add_event(
                c, principal.tenant, scope, "vault_remove", principal.agent, {"parts": removed}
            )
            return RemovedFile(removed)

        return await self._transactions.once(principal, scope, RemovedFile, work, key, deadline, status=200)

    async def linked(
        self, principal: Principal, request: LinksRequest, deadline: Deadline
    ) -> list[LinkedFile]:
        """One result per path, in order: from the index, or else from the folder."""
        scopes = principal.own_scopes()

        async def work(c: Connection) -> list[LinkedFile | None]:
            return [
                await _linked(c, principal.tenant, path, scopes, request.characters) for path in request.paths
            ]

        indexed = await self._database.run(principal.tenant, work, deadline)
        missing = [path for path, file in zip(request.paths, indexed, strict=True) if file is None]
        read = iter(
            await asyncio.to_thread(read_files, self._root, principal, missing, request.characters)
            if missing
            else []
        )
        return [next(read) if file is None else file for file in indexed]


def require_uploaded(principal: Principal, stored: Sequence[asyncpg.Record]) -> None:
    """Raises Conflict for a file of the folder, and Forbidden for one that another agent wrote."""
    if any(row["origin"] == "folder" for row in stored):
        raise Conflict("this file is indexed from the tenant's folder of the vault: change it there")
    principal.require_author(stored[0]["agent_name"])


async def _linked(
    c: Connection, tenant: str, location: str, scopes: Sequence[str] | None, characters: int
) -> LinkedFile | None:
    path, first, last = lines_of(location)
    if path_problem(path) is not None:
        return None
    file = await queries.changed_at(c, tenant, path, scopes)
    if file is None:
        return None
    wanted = first or 1, last or LAST_LINE
    rows = await queries.passages(
        c, tenant, path, scopes, first=wanted[0], last=wanted[1], limit=1 + characters // 200
    )
    lines = of_passages(rows, *wanted, ends=True)
    if lines is None:
        return None
    operators = file["origin"] == "folder" and is_operators(path)
    return LinkedFile(location, lines.text[:characters], file["changed_at"], operators=operators)
