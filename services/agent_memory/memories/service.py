"""The rules of the agent-memory service: commit with dedup, search of one's own and of peers' memories."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import TypeVar

import asyncpg
import msgspec
import structlog
from pgvector import HalfVector

from services.agent_memory.memories import commits, queries, transfer
from services.agent_memory.memories import queries_writes as sql
from services.agent_memory.memories.commits import Commits
from services.agent_memory.memories.merging import Statement
from services.agent_memory.memories.schemas import (
    AgentMemory,
    CommitAgentMemoryInput,
    CommitBatchInput,
    CommitBatchResult,
    CommitResult,
    DeleteAnswer,
    EditAgentMemoryInput,
    ExportedMemory,
    ForgetReceipt,
    ImportResult,
    ListAgentMemoryInput,
    MemoryAnswer,
)
from services.agent_memory.memories.search import MemorySearch
from services.agent_memory.settings import Settings
from services.agent_memory.vault.files import Vault
from shared.auth import Principal
from shared.database.doorbell import Doorbell
from shared.database.idempotency import Key, Records
from shared.database.indexer import Embedded, Indexer, IndexStatements
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.embeddings import Embedder, EmbedderUnavailable
from shared.errors import AppError, NotFound
from shared.provenance import spoken
from shared.search.chunking import chunk
from shared.telemetry import tracing

log = structlog.get_logger()

T = TypeVar("T", bound=msgspec.Struct)

_FLUSH_SECONDS = 0.5
_FINISH_SECONDS = 10.0


class AgentMemoryService:
    def __init__(
        self, settings: Settings, database: Database, embedder: Embedder, doorbell: Doorbell
    ) -> None:
        self._settings = settings
        self._database = database
        self._embedder = embedder
        self._doorbell = doorbell
        self.records = Records("memory")
        self.vault = Vault(settings.vault_root)
        self._accesses: Counter[tuple[str, int]] = Counter()
        self.search = MemorySearch(database, embedder, self.count_accesses)
        self._commits = Commits(embedder)
        self.indexer = Indexer(
            database,
            embedder,
            "agent_memory",
            IndexStatements(
                schema="memory",
                items="agent_memory",
                chunks="agent_memory_chunks",
                vectors="agent_memory_vec",
                extra=["private"],
            ),
            queries.TEXTS,
            _chunks_to_embed,
            self._finish,
        )

    @tracing.memory("upsert_memory", "agent_memory")
    async def commit(
        self, principal: Principal, memory: CommitAgentMemoryInput, key: Key | None, deadline: Deadline
    ) -> CommitResult:
        batch = CommitBatchInput(memories=[memory])
        return (await self.commit_batch(principal, batch, key, deadline)).results[0]

    @tracing.memory("upsert_memory", "agent_memory")
    async def commit_batch(
        self, principal: Principal, batch: CommitBatchInput, key: Key | None, deadline: Deadline
    ) -> CommitBatchResult:
        """All of them or none."""
        for memory in batch.memories:
            principal.require_agent(memory.agent_name)
            principal.require_user(memory.user_id)
        agents = sorted({memory.agent_name for memory in batch.memories})
        said = [commits.statement(principal, memory) for memory in batch.memories]
        vectors = await self._dedup_vectors(said, deadline)

        async def work(c: Connection) -> CommitBatchResult:
            for agent in agents:
                await sql.lock_agent(c, principal.tenant, agent)
            each = zip(batch.memories, said, vectors, strict=True)
            return CommitBatchResult(
                [
                    await self._commits.commit(c, principal.tenant, memory.agent_name, one, vector)
                    for memory, one, vector in each
                ]
            )

        scope = f"agent:{agents[0]}" if len(agents) == 1 else "shared"
        return await self._write(principal, scope, CommitBatchResult, work, key, deadline)

    async def _write(
        self,
        principal: Principal,
        scope: str,
        kind: type[T],
        work: Callable[[Connection], Awaitable[T]],
        key: Key | None,
        deadline: Deadline,
        status: int = 201,
    ) -> T:
        """One transaction, once per key; then the timeline is rung and the indexer woken."""

        async def once(c: Connection) -> T:
            assert key is not None
            return await self.records.once(
                c, principal.tenant, scope, key, kind, lambda: work(c), status=status
            )

        result = await self._database.transaction(work if key is None else once, deadline)
        self._doorbell.ring(principal.tenant)
        self.indexer.wake()
        return result

    async def _dedup_vectors(self, said: Sequence[Statement], deadline: Deadline) -> list[HalfVector | None]:
        """Only short memories are compared by meaning, so only those wait for their vectors."""
        short = [place for place, one in enumerate(said) if len(chunk(one.content)) == 1]
        vectors: list[HalfVector | None] = [None] * len(said)
        if not short:
            return vectors
        texts = [spoken(said[place].speaker, said[place].content) for place in short]
        patience = min(self._settings.dedup_seconds, deadline.left() / 2)
        try:
            embedded = await asyncio.wait_for(self._embedder.embed(texts, "document"), patience)
        except (EmbedderUnavailable, TimeoutError):
            return vectors
        for place, vector in zip(short, embedded, strict=True):
            vectors[place] = HalfVector(vector)
        return vectors

    async def get(self, principal: Principal, memory_id: int, deadline: Deadline) -> MemoryAnswer:
        """One memory of the agent's own, or of a peer that does not keep it private."""

        async def work(c: Connection) -> MemoryAnswer:
            row = await self._found(c, principal, memory_id)
            said = await queries.latest_confirmations(c, principal.tenant, row["id"])
            return MemoryAnswer(AgentMemory(**dict(row)), [transfer.confirmation(one) for one in said])

        return await self._database.run(work, deadline)

    @tracing.memory("update_memory", "agent_memory")
    async def edit(
        self, principal: Principal, memory_id: int, change: EditAgentMemoryInput, deadline: Deadline
    ) -> MemoryAnswer:
        tenant = principal.tenant
        row = await self._database.run(lambda c: self._found(c, principal, memory_id), deadline)
        principal.require_agent(row["agent_name"])
        known = sql.statement_of(row)
        said = commits.edited(known, change, principal)
        vector = None
        if said.content != known.content:
            vector = (await self._dedup_vectors([said], deadline))[0]

        async def work(c: Connection) -> None:
            await sql.lock_agent(c, tenant, row["agent_name"])
            current = await sql.read(c, tenant, row["id"])
            if current is None:
                raise NotFound(f"no memory {memory_id}")
            await self._commits.edit(c, principal, current, change, vector)

        await self._database.transaction(work, deadline)
        self._doorbell.ring(tenant)
        self.indexer.wake()
        return await self.get(principal, row["id"], deadline)

    @tracing.memory("delete_memory", "agent_memory")
    async def delete(self, principal: Principal, memory_id: int, deadline: Deadline) -> DeleteAnswer:
        tenant = principal.tenant

        async def work(c: Connection) -> DeleteAnswer:
            row = await self._found(c, principal, memory_id)
            principal.require_agent(row["agent_name"])
            await sql.lock_agent(c, tenant, row["agent_name"])
            if not await sql.delete(c, tenant, row["id"], row["agent_name"]):
                raise NotFound(f"no memory {memory_id}")
            await sql.event(c, tenant, row["agent_name"], "memory_delete", {"id": row["id"]})
            return DeleteAnswer(row["id"])

        deleted = await self._database.transaction(work, deadline)
        self._doorbell.ring(tenant)
        return deleted

    @staticmethod
    async def _found(c: Connection, principal: Principal, memory_id: int) -> asyncpg.Record:
        row = await queries.find(c, principal.tenant, memory_id, principal.seen_users())
        hidden = row is not None and row["private"] and principal.agent not in (None, row["agent_name"])
        if row is None or hidden:
            raise NotFound(f"no memory {memory_id}")
        return row

    @tracing.memory("delete_memory", "agent_memory")
    async def forget(
        self, principal: Principal, agent_name: str, key: Key | None, deadline: Deadline
    ) -> ForgetReceipt:
        """Erases all that the agent committed; the timeline keeps that it happened, without content."""
        principal.require_agent(agent_name)
        principal.require_every_user()
        tenant, scope = principal.tenant, f"agent:{agent_name}"

        async def work(c: Connection) -> ForgetReceipt:
            await sql.lock_agent(c, tenant, agent_name)
            held = await sql.held(c, tenant, agent_name)
            erased = {**held, **await sql.purge(c, tenant, scope)}
            await sql.event(c, tenant, agent_name, "memory_forget", {"erased": erased})
            return ForgetReceipt(agent_name, erased, datetime.now(UTC))

        # A record under the agent's own scope would be erased with it.
        return await self._write(principal, "shared", ForgetReceipt, work, key, deadline, status=200)

    async def export(
        self, principal: Principal, agent_name: str | None, after: int, limit: int, deadline: Deadline
    ) -> bytes:
        """A page as JSON Lines; of every agent where none is named."""
        if agent_name is None:
            principal.require("admin")
        principal.require_agent(agent_name or principal.agent)
        agent = agent_name or principal.agent
        return await self._database.run(
            lambda c: transfer.export(c, principal.tenant, agent, after, limit, principal.seen_users()),
            deadline,
        )

    async def restore(
        self, principal: Principal, lines: Sequence[ExportedMemory], key: Key | None, deadline: Deadline
    ) -> ImportResult:
        for line in lines:
            principal.require_agent(line.agent_name)
            principal.require_user(line.user_id)
        return await self._write(
            principal,
            "shared",
            ImportResult,
            lambda c: transfer.restore(c, self._commits, principal.tenant, lines),
            key,
            deadline,
        )

    async def _finish(self, embedded: Embedded) -> None:
        """Vectors arrived: each agent's are stored, or their memories absorbed, under the lock of its commits."""
        by_agent = sorted(embedded, key=_owner)
        for (tenant, agent), some in groupby(by_agent, key=_owner):
            theirs = list(some)

            async def work(c: Connection, tenant: str = tenant, agent: str = agent) -> None:
                await sql.lock_agent(c, tenant, agent)
                for row, vectors in theirs:  # noqa: B023
                    await self._commits.finish(c, tenant, row["item_id"], row["content"], vectors)

            await self._database.transaction(work, Deadline(_FINISH_SECONDS))
            self._doorbell.ring(tenant)

    async def list_memories(
        self, principal: Principal, request: ListAgentMemoryInput, deadline: Deadline
    ) -> list[AgentMemory]:
        principal.require_agent(request.agent_name)
        rows = await self._database.run(
            lambda c: queries.list_memories(
                *(c, principal.tenant, request.agent_name, request.memory_type),
                *(request.limit, request.offset, principal.seen_users()),
            ),
            deadline,
        )
        return [AgentMemory(**dict(row)) for row in rows]

    async def pending_review(
        self, principal: Principal, since: dict[str, datetime], deadline: Deadline
    ) -> dict[str, int]:
        """How many memories each agent gained since its time."""
        return await self._database.run(
            lambda c: queries.count_since(
                *(c, principal.tenant, list(since), list(since.values())),
                *(principal.agent, principal.seen_users()),
            ),
            deadline,
        )

    @tracing.memory("delete_memory", "agent_memory")
    async def purge(
        self, principal: Principal, scope: str, user_id: str | None, deadline: Deadline
    ) -> dict[str, int]:
        """Every row of the scope, and what any agent knows of the user; counts per table."""

        async def erase(c: Connection) -> dict[str, int]:
            counts = await sql.purge(c, principal.tenant, scope)
            if user_id is not None:
                counts["agent_memory"] += await sql.purge_user(c, principal.tenant, user_id)
            return counts

        return await self._database.transaction(erase, deadline)

    def count_accesses(self, tenant: str, ids: Sequence[int]) -> None:
        self._accesses.update((tenant, id_) for id_ in ids)

    async def count_accesses_forever(self) -> None:
        """Counts go to the database in batches, off the path of the readers."""
        while True:
            await asyncio.sleep(_FLUSH_SECONDS)
            await self.flush_accesses()

    async def flush_accesses(self) -> None:
        if not self._accesses:
            return
        counts, self._accesses = dict(self._accesses), Counter()
        try:
            left = await self._database.run(lambda c: sql.count_accesses(c, counts), Deadline(5))
            self._accesses.update(left)
        except AppError as error:
            self._accesses.update(counts)
            log.debug("access counts wait", error=error.detail)


def _owner(one: tuple[asyncpg.Record, list[HalfVector]]) -> tuple[str, str]:
    return one[0]["tenant"], one[0]["agent_name"]


def _chunks_to_embed(row: asyncpg.Record) -> list[str]:
    text = row["content"]
    return [
        spoken(row["who"], text[start:stop]) for start, stop in zip(row["starts"], row["stops"], strict=True)
    ]
