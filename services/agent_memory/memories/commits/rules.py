"""The rules of commits, edits and late vectors.

Every method runs in its caller's transaction, which holds the lock of the memory's agent.
"""

from __future__ import annotations

from collections.abc import Sequence

import asyncpg
from pgvector import HalfVector

from services.agent_memory.memories.commits import queries, queries_vectors
from services.agent_memory.memories.commits.content import MemoryContent, edited, may_change, merge
from services.agent_memory.memories.commits.queries import Absorbed, content_of
from services.agent_memory.memories.commits.rows import MemoryRow, chunk_words, content_hashes, memory_row
from services.agent_memory.memories.schemas import CommitResult, CommitStatus, EditAgentMemoryInput
from shared.auth import Principal
from shared.database.postgres import Connection
from shared.embeddings import CachedEmbedder, same_fact
from shared.errors import Conflict
from shared.search.chunking import chunk


class CommitRules:
    def __init__(self, embedder: CachedEmbedder) -> None:
        self._model = embedder.model
        self._distance = embedder.dedup_distance

    async def commit(
        self,
        c: Connection,
        principal: Principal,
        agent: str,
        memory: MemoryContent,
        fact: bytes,
        vector: HalfVector | None,
    ) -> CommitResult:
        """`fact` is the memory's content hash. `vector` is None when the embedder failed, and for memories of more than
        one chunk."""
        tenant = principal.tenant
        status: CommitStatus = "updated"
        memory_id = await self._find_duplicate(c, tenant, agent, memory, fact, vector)
        duplicate = memory_id is not None and await self._repeat(c, principal, memory_id, memory, vector)
        if memory_id is None or not duplicate:
            status = "pending" if vector is None and len(chunk(memory.content)) == 1 else "created"
            row = memory_row(tenant, agent, memory, fact, pending=status == "pending")
            memory_id = await self.insert(c, row, vector)
        event = {"id": memory_id, "memory_type": memory.memory_type, "status": status}
        await queries.add_event(c, tenant, agent, "memory_commit", event, memory)
        return CommitResult(memory_id=memory_id, duplicate_detected=duplicate, status=status)

    async def insert(self, c: Connection, row: MemoryRow, vector: HalfVector | None = None) -> int:
        memory_id = await queries.insert(c, row, await chunk_words(row))
        if vector is not None:
            await queries_vectors.put_vectors(c, row.tenant, memory_id, self._model, [vector])
        else:
            await queries_vectors.queue(c, row.tenant, row.agent_name, memory_id, self._model)
        return memory_id

    async def edit(
        self,
        c: Connection,
        principal: Principal,
        row: asyncpg.Record,
        change: EditAgentMemoryInput,
        vector: HalfVector | None,
    ) -> None:
        """Raises Conflict for a text that another memory of the agent states, or from a less trusted source."""
        tenant, agent, stored = principal.tenant, row["agent_name"], content_of(row)
        memory = edited(stored, change, principal)
        if memory.content != stored.content:
            if stored.trusted and not memory.trusted:
                raise Conflict(
                    f"a {memory.source_kind}'s text does not replace what a {stored.source_kind} said"
                )
            (fact,) = await content_hashes([memory])
            duplicate = await self._find_duplicate(
                c, tenant, agent, memory, fact, vector, other_than=row["id"]
            )
            if duplicate not in (None, row["id"]):
                raise Conflict(f"memory {duplicate} of this agent says the same", memory_id=duplicate)
        await self._restate(c, tenant, row, memory, vector)
        await queries.add_event(c, tenant, agent, "memory_edit", {"id": row["id"]}, memory)

    async def finish(
        self, c: Connection, tenant: str, memory_id: int, content: str, vectors: Sequence[HalfVector]
    ) -> None:
        """Stores the vectors of `content`, or merges the memory with its duplicate if it waited for them."""
        row = await queries.read(c, tenant, memory_id)
        if row is None or row["content"] != content:
            return  # deleted; or edited, and queued again
        if row["pending"]:
            memory = content_of(row)
            near = await self._near(c, tenant, row["agent_name"], memory, vectors[0], other_than=memory_id)
            duplicate = next((other["id"] for other in near if _same_writer(memory, other)), None)
            if duplicate is not None and await self._absorb(c, tenant, memory_id, duplicate, vectors[0]):
                return
        await self._store_vectors(c, tenant, memory_id, vectors)

    async def _find_duplicate(
        self,
        c: Connection,
        tenant: str,
        agent: str,
        memory: MemoryContent,
        fact: bytes,
        vector: HalfVector | None,
        *,
        other_than: int = 0,
    ) -> int | None:
        """Looks by the fact, then by meaning. Only the fact may find `other_than`, the memory itself."""
        duplicate = await queries.find_by_fact(c, tenant, agent, fact)
        if duplicate is None and vector is not None:
            near = await self._near(c, tenant, agent, memory, vector, other_than=other_than)
            duplicate = near[0]["id"] if near else None
        return duplicate

    async def _near(
        self,
        c: Connection,
        tenant: str,
        agent: str,
        memory: MemoryContent,
        vector: HalfVector,
        *,
        other_than: int,
    ) -> list[asyncpg.Record]:
        """The memories that state the same fact, nearest first."""
        rows = await queries_vectors.nearest(
            c,
            tenant=tenant,
            agent_name=agent,
            model=self._model,
            vector=vector,
            distance=self._distance,
            private=memory.private,
            user_id=memory.user_id,
            other_than=other_than,
        )
        return [row for row in rows if same_fact(memory.content, row["content"])]

    async def _repeat(
        self,
        c: Connection,
        principal: Principal,
        memory_id: int,
        repetition: MemoryContent,
        vector: HalfVector | None,
    ) -> bool:
        """Confirms the memory, unless it is gone. Only a key that may change it changes what it states."""
        tenant = principal.tenant
        row = await queries.hold(c, tenant, memory_id)
        if row is None:
            return False
        if may_change(principal, row["mission_namespace"], row["written_by"]):
            await self._restate(c, tenant, row, merge(content_of(row), repetition), vector)
        await queries.confirm(c, tenant, memory_id, repetition)
        return True

    async def _absorb(
        self, c: Connection, tenant: str, memory_id: int, duplicate_id: int, vector: HalfVector
    ) -> bool:
        """Keeps the older of the two, with its id, unless one of them is gone."""
        older, newer = [await queries.hold(c, tenant, id_) for id_ in sorted((memory_id, duplicate_id))]
        if older is None or newer is None:
            return False
        repetition = content_of(newer)
        await queries.absorb(c, tenant, older["id"], newer["id"])
        absorbed = Absorbed(newer["id"], newer["created_at"])
        await queries.confirm(c, tenant, older["id"], repetition, absorbed)
        memory = merge(content_of(older), repetition)
        reworded = await self._restate(c, tenant, older, memory, vector if newer["id"] == memory_id else None)
        if older["id"] == memory_id and not reworded:
            await self._store_vectors(c, tenant, memory_id, [vector])
        event = {"id": older["id"], "absorbed": newer["id"]}
        await queries.add_event(c, tenant, older["agent_name"], "memory_merge", event, repetition)
        return True

    async def _restate(
        self,
        c: Connection,
        tenant: str,
        row: asyncpg.Record,
        memory: MemoryContent,
        vector: HalfVector | None,
    ) -> bool:
        """Writes the changes. True for a new wording, which drops the vectors and takes `vector` or waits for one."""
        stored, agent, memory_id = content_of(row), row["agent_name"], row["id"]
        if memory == stored:
            return False
        fact = row["content_hash"]
        if memory.content != stored.content:
            (fact,) = await content_hashes([memory])
        restated = memory_row(tenant, agent, memory, fact, id=memory_id)
        await queries.restate(c, restated, await chunk_words(restated))
        if (memory.content, memory.speaker) == (stored.content, stored.speaker):
            return False
        await queries_vectors.drop_vectors(c, tenant, memory_id)
        if vector is not None:
            await self._store_vectors(c, tenant, memory_id, [vector])
        else:
            await queries_vectors.queue(c, tenant, agent, memory_id, self._model)
        return True

    async def _store_vectors(
        self, c: Connection, tenant: str, memory_id: int, vectors: Sequence[HalfVector]
    ) -> None:
        await queries_vectors.put_vectors(c, tenant, memory_id, self._model, vectors)
        await queries_vectors.settle(c, tenant, memory_id, self._model)


def _same_writer(memory: MemoryContent, other: asyncpg.Record) -> bool:
    """The bounds of the writing keys are unknown by now. A key that wrote both in one mission may change both."""
    return (memory.written_by, memory.mission_namespace) == (other["written_by"], other["mission_namespace"])
