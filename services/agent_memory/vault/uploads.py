"""Stores uploaded files, in one piece or several."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from typing import Any, NamedTuple

import asyncpg

from services.agent_memory.transactions import Transactions
from services.agent_memory.vault import queries_write
from services.agent_memory.vault.content import Place, Rows, Source, rows_of
from services.agent_memory.vault.conversion.converter import Converter
from services.agent_memory.vault.conversion.formats import NoText, TooSlow, format_of
from services.agent_memory.vault.conversion.texts import text_of
from services.agent_memory.vault.folders import require_folder, scope_of, user_of
from services.agent_memory.vault.graph.facts import facts_of, replace_facts
from services.agent_memory.vault.schemas import PutFileInput, PutFileResult
from services.agent_memory.vault.service import require_uploaded
from shared.auth import Principal
from shared.concurrency.threads import beside
from shared.database.idempotency import Key
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.errors import Conflict, Invalid, Unavailable
from shared.provenance import utc
from shared.review.reviews import About, require_unreviewed
from shared.telemetry import tracing

# The share of the time left for a conversion.
_CONVERT_SHARE = 0.6


class Stored(NamedTuple):
    """What is stored of the file: the piece itself, and the one before it."""

    same: asyncpg.Record | None
    before: asyncpg.Record | None
    any: bool

    @property
    def place(self) -> Place:
        return Place() if self.before is None else Place(self.before["part"] + 1, self.before["next_line"])


class Uploads:
    def __init__(self, database: Database, transactions: Transactions, model: str) -> None:
        self._database = database
        self._transactions = transactions
        self._model = model
        self._converter = Converter()

    @tracing.memory("create_memory", "agent_memory")
    async def put(
        self, principal: Principal, file: PutFileInput, key: Key | None, deadline: Deadline
    ) -> PutFileResult:
        """Stores a file, or a piece of it. Raises Forbidden, and Conflict for a piece without the one before."""
        scope = scope_of(file.path)
        require_folder(principal, scope)
        data = _data(file)
        text = await self._text(principal.tenant, file, data, deadline)
        source = _source(principal, file, data)
        found = await self._database.run(
            principal.tenant, lambda c: self._stored(c, principal, file), deadline
        )
        rows = await beside(len(text), rows_of, source, text, found.place, principal.language)

        async def work(c: Connection) -> PutFileResult:
            return await self._write(c, principal, file, source, found.place, rows)

        about = None if key is None else key.about([source.agent_name], [user_of(scope)])
        return await self._transactions.once(principal, scope, PutFileResult, work, about, deadline)

    async def _text(self, tenant: str, file: PutFileInput, data: bytes, deadline: Deadline) -> str:
        """Raises Invalid for a file without text."""
        if file.text is not None and format_of(file.path) != "html":
            return file.text
        try:
            seconds = deadline.left() * _CONVERT_SHARE
            return await text_of(self._converter, tenant, file.path, data, seconds)
        except TooSlow as error:
            raise Unavailable("converter", "the file could not be converted in time") from error
        except NoText as error:
            raise Invalid.field("text" if file.content is None else "content", error.reason) from error

    async def _write(
        self,
        c: Connection,
        principal: Principal,
        file: PutFileInput,
        source: Source,
        place: Place,
        rows: Rows,
    ) -> PutFileResult:
        tenant = principal.tenant
        await require_unreviewed(c, principal, About(scope_of(file.path), agent_name=principal.agent))
        await queries_write.lock_path(c, tenant, file.path)
        stored = await self._stored(c, principal, file)
        if stored.place != place:
            raise Conflict("the piece before this one was just replaced")
        counts: Mapping[str, Any] = {
            "chunks": sum(row.chunks for row in rows.files),
            "last_line": rows.files[-1].last_line,
        }
        if stored.same is not None and _is_same(stored.same, source):
            return PutFileResult("unchanged", [], **counts)
        await queries_write.remove(c, tenant, file.path, file.piece)
        ids = await queries_write.insert(c, tenant, rows, model=self._model, event="vault_put")
        facts = facts_of(file.path, rows.statements, file.piece)
        await replace_facts(c, tenant, [facts], written_by=source.written_by)
        return PutFileResult("changed" if stored.any else "created", ids, **counts)

    async def _stored(self, c: Connection, principal: Principal, file: PutFileInput) -> Stored:
        pieces = await queries_write.pieces(c, principal.tenant, file.path)
        if pieces:
            require_uploaded(principal, pieces)
        by_number = {row["piece"]: row for row in pieces}
        before = by_number.get(file.piece - 1)
        if file.piece > 1 and (before is None or before["pieces"] != file.pieces):
            raise Conflict(f"piece {file.piece - 1} of {file.pieces} has to be stored first")
        return Stored(by_number.get(file.piece), before, bool(pieces))


def _data(file: PutFileInput) -> bytes:
    if file.content is None:
        return (file.text or "").encode()
    try:
        return base64.b64decode(file.content, validate=True)
    except ValueError as error:
        raise Invalid.field("content", "must be base64") from error


def _source(principal: Principal, file: PutFileInput, data: bytes) -> Source:
    return Source(
        path=file.path,
        format=format_of(file.path),
        origin="upload",
        hash=hashlib.sha256(data).digest(),
        written_by=principal.key,
        agent_name=principal.agent,
        piece=file.piece,
        pieces=file.pieces,
        occurred_at=utc(file.occurred_at),
    )


def _is_same(stored: asyncpg.Record, source: Source) -> bool:
    return bool(stored["hash"] == source.hash and stored["pieces"] == source.pieces)
