"""Writes, edits, deletes and reads long-term memories."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple

import asyncpg

from services.agent_memory.chunk_words import ChunkWords
from services.agent_memory.long_term import queries, queries_write
from services.agent_memory.long_term.content import (
    LongTermContent,
    LongTermRow,
    edited,
    require_own,
    written,
)
from services.agent_memory.long_term.prepared import prepare
from services.agent_memory.long_term.schemas import (
    DeletedMemory,
    DueCommitments,
    DueCursor,
    EditMemoryInput,
    ListFilter,
    LongTermCursor,
    LongTermMemories,
    LongTermMemory,
    WriteMemoryInput,
    WrittenMemories,
    WrittenMemory,
)
from services.agent_memory.long_term.waiting import about, waiting_of
from services.agent_memory.transactions import Transactions
from shared.auth import Principal
from shared.database.idempotency import Key
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.errors import Conflict, Forbidden, Invalid, NotFound
from shared.paging.pages import page_of
from shared.review.reviews import Reviews, require_unreviewed
from shared.review.schemas import Waiting
from shared.telemetry import tracing

_NOT_ITS_OWN = "must be a memory of the same scope and user, whose source is not trusted more"

NOT_THE_SAME = "must be a memory of the same scope and user, whose source is trusted as much"


class DueFilter(NamedTuple):
    """Which commitments: of these scopes, owed by somebody, about a user; None narrows nothing."""

    scopes: list[str] | None
    owed_by: str | None
    user_id: str | None
    until: datetime
    since: datetime | None


class LongTerm:
    def __init__(self, database: Database, transactions: Transactions, model: str) -> None:
        self._database = database
        self._transactions = transactions
        self._model = model
        self._reviews = Reviews("memory")

    @tracing.memory("upsert_memory", "agent_memory")
    async def write(
        self, principal: Principal, memories: Sequence[WriteMemoryInput], key: Key | None, deadline: Deadline
    ) -> WrittenMemories:
        """Writes all memories or none."""
        contents = [_granted(principal, memory) for memory in memories]
        rows, words = await prepare(principal.tenant, contents)

        async def work(c: Connection) -> WrittenMemories:
            results = await self._insert_or_wait(c, principal, memories, rows, words)
            for memory, result in zip(memories, results, strict=True):
                if memory.supersedes is not None and result.id > 0:
                    await _supersede(c, principal, memory.supersedes, result.id)
            return WrittenMemories(results)

        scopes = sorted({row.scope for row in rows})
        if key is not None:
            key = key.about([row.agent_name for row in rows], [row.user_id for row in rows])
        scope = scopes[0] if len(scopes) == 1 else "shared"
        return await self._transactions.once(principal, scope, WrittenMemories, work, key, deadline)

    async def _insert_or_wait(
        self,
        c: Connection,
        principal: Principal,
        memories: Sequence[WriteMemoryInput],
        rows: Sequence[LongTermRow],
        words: Sequence[ChunkWords],
    ) -> list[WrittenMemory]:
        def write_of(place: int, rules: list[str]) -> Waiting:
            return waiting_of(rows[place], memories[place], rules)

        held = await self._reviews.held(c, principal, [about(row) for row in rows], write_of)
        if not held:
            return await self._insert(c, principal.tenant, rows, words)
        free = [place for place in range(len(rows)) if place not in held]
        done = iter(
            await self._insert(
                c, principal.tenant, [rows[place] for place in free], [words[place] for place in free]
            )
            if free
            else ()
        )
        return [
            WrittenMemory(held[place], row.scope, "created", review="pending")
            if place in held
            else next(done)
            for place, row in enumerate(rows)
        ]

    async def write_reviewed(
        self, writer: Principal, memory: WriteMemoryInput
    ) -> Callable[[Connection], Awaitable[int]]:
        """What writes, in a transaction, what a reviewer approved. What it was to supersede may be gone by now."""
        rows, words = await prepare(writer.tenant, [_granted(writer, memory)])

        async def work(c: Connection) -> int:
            (result,) = await self._insert(c, writer.tenant, rows, words)
            if memory.supersedes is not None:
                with suppress(Invalid):
                    await _supersede(c, writer, memory.supersedes, result.id)
            return result.id

        return work

    async def _insert(
        self, c: Connection, tenant: str, rows: Sequence[LongTermRow], words: Sequence[ChunkWords]
    ) -> list[WrittenMemory]:
        new = await queries_write.insert(c, tenant, rows, words, self._model)
        there = await queries_write.known(c, tenant, rows) if len(new) < len(rows) else new
        results: list[WrittenMemory] = []
        for place, row in enumerate(rows):
            if place not in there:
                raise Conflict("another request deleted the same memory meanwhile: send it again")
            results.append(WrittenMemory(there[place], row.scope, "created" if place in new else "known"))
        return results

    @tracing.memory("update_memory", "agent_memory")
    async def edit(
        self, principal: Principal, memory_id: int, change: EditMemoryInput, deadline: Deadline
    ) -> LongTermMemory:
        async def work(c: Connection) -> LongTermMemory:
            await self.change(c, principal, memory_id, change)
            return LongTermMemory.from_row(await find_visible(c, principal, memory_id))

        return await self._transactions.run(principal.tenant, work, deadline)

    async def change(
        self, c: Connection, principal: Principal, memory_id: int, change: EditMemoryInput
    ) -> None:
        """Edits it. Call it in a transaction."""
        stored = await hold_own(c, principal, memory_id)
        await require_unreviewed(c, principal, about(stored))
        memory = edited(principal, stored, change)
        if memory != stored:
            await self._restate(c, principal.tenant, memory_id, stored, memory)

    async def _restate(
        self, c: Connection, tenant: str, memory_id: int, stored: LongTermContent, memory: LongTermContent
    ) -> None:
        (row,), (words,) = await prepare(tenant, [memory], memory_id)
        try:
            await queries_write.restate(c, row, words)
        except asyncpg.UniqueViolationError as error:
            raise Conflict("the scope has another memory that says the same") from error
        if memory.content != stored.content:
            await queries_write.embed_anew(c, row, self._model)
        event: dict[str, Any] = {"id": memory_id, "memory_kind": memory.kind}
        if memory.status != stored.status:
            event["status"] = memory.status
        await queries_write.add_event(c, tenant, "long_term_edit", memory, event)

    @tracing.memory("delete_memory", "agent_memory")
    async def delete(self, principal: Principal, memory_id: int, deadline: Deadline) -> DeletedMemory:
        async def work(c: Connection) -> DeletedMemory:
            await self.erase(c, principal, memory_id)
            return DeletedMemory(memory_id)

        return await self._transactions.run(principal.tenant, work, deadline)

    async def erase(self, c: Connection, principal: Principal, memory_id: int) -> None:
        """Deletes it. Call it in a transaction."""
        stored = await hold_own(c, principal, memory_id)
        await queries_write.delete(c, principal.tenant, memory_id)
        event = {"id": memory_id, "memory_kind": stored.kind}
        await queries_write.add_event(c, principal.tenant, "long_term_delete", stored, event)

    async def merge(self, c: Connection, principal: Principal, memory_id: int, into: int) -> int:
        """Leaves the memory readable, superseded by another one of its scope and user."""
        await hold_own(c, principal, memory_id)
        await find_visible(c, principal, into)
        if not await queries_write.supersede(c, principal.tenant, memory_id, into):
            raise Invalid.field("into", NOT_THE_SAME)
        return into

    async def get(self, principal: Principal, memory_id: int, deadline: Deadline) -> LongTermMemory:
        row = await self._database.run(
            principal.tenant, lambda c: find_visible(c, principal, memory_id), deadline
        )
        return LongTermMemory.from_row(row)

    async def list_memories(
        self, principal: Principal, wanted: ListFilter, cursor: str | None, limit: int, deadline: Deadline
    ) -> LongTermMemories:
        if wanted.scope is not None:
            principal.require_scope(wanted.scope)
        last = LongTermCursor.read(cursor)
        before = None if last is None else last.id
        rows = await self._database.run(
            principal.tenant,
            lambda c: queries.list_memories(c, principal, wanted, before, limit + 1),
            deadline,
        )
        page = page_of(rows, limit, lambda row: LongTermCursor(id=row["id"]))
        return LongTermMemories([LongTermMemory.from_row(row) for row in page.rows], page.next)

    async def due(
        self, principal: Principal, wanted: DueFilter, cursor: str | None, limit: int, deadline: Deadline
    ) -> DueCommitments:
        for scope in wanted.scopes or ():
            principal.require_scope(scope)
        after = DueCursor.read(cursor)
        rows = await self._database.run(
            principal.tenant,
            lambda c: queries.due(
                c,
                principal,
                wanted.scopes,
                wanted.owed_by,
                wanted.user_id,
                until=wanted.until,
                since=wanted.since,
                after=after,
                limit=limit + 1,
            ),
            deadline,
        )
        page = page_of(rows, limit, lambda row: DueCursor(due_at=row["due_at"], id=row["id"]))
        return DueCommitments([LongTermMemory.from_row(row) for row in page.rows], page.next)


def _granted(principal: Principal, memory: WriteMemoryInput) -> LongTermContent:
    """Raises Forbidden for a scope, a user or an agent that the key has no grant for."""
    principal.require_agent(memory.agent_name)
    principal.require_user(memory.user_id)
    content = written(principal, memory)
    principal.require_scope(content.scope)
    return content


async def find_visible(c: Connection, principal: Principal, memory_id: int) -> asyncpg.Record:
    """Raises NotFound for a memory that the key may not see, as for one that does not exist."""
    row = await queries.find(c, principal, memory_id)
    if row is None:
        raise NotFound(f"no memory {memory_id}")
    return row


async def hold_own(c: Connection, principal: Principal, memory_id: int) -> LongTermContent:
    """A memory that the principal may change, until the transaction ends. Raises NotFound, Forbidden."""
    require_own(principal, await find_visible(c, principal, memory_id))
    row = await queries_write.hold(c, principal.tenant, memory_id)
    if row is None:
        raise NotFound(f"no memory {memory_id}")
    return queries_write.content_of(row)


async def _supersede(c: Connection, principal: Principal, older: int, newer: int) -> None:
    """Raises Invalid for a memory that the principal may not change, or that the newer one may not supersede."""
    try:
        await hold_own(c, principal, older)
        done = await queries_write.supersede(c, principal.tenant, older, newer)
    except (NotFound, Forbidden):
        done = False
    if not done:
        raise Invalid.field("supersedes", _NOT_ITS_OWN)
