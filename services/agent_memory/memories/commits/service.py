"""Commits, edits and deletions of memories, and the vectors that arrive after a commit."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import asyncpg
from pgvector import HalfVector

from services.agent_memory.memories.commits import content, queries
from services.agent_memory.memories.commits.content import MemoryContent
from services.agent_memory.memories.commits.queries_repeats import Commit
from services.agent_memory.memories.commits.rows import content_hashes
from services.agent_memory.memories.commits.rules import CommitRules, Prepared
from services.agent_memory.memories.schemas import (
    CommitAgentMemoryInput,
    CommitBatchResult,
    DeleteAnswer,
    EditAgentMemoryInput,
)
from services.agent_memory.memories.service import find_visible
from services.agent_memory.transactions import Transactions
from shared.auth import Principal
from shared.database.doorbell import Doorbell
from shared.database.idempotency import Key
from shared.database.index_queue import Embedded
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.embeddings import CachedEmbedder
from shared.embeddings.bounded import embed_within
from shared.errors import Forbidden, Invalid, NotFound
from shared.provenance import spoken
from shared.search.chunking import chunk
from shared.telemetry import tracing

_NOT_ITS_OWN = "must be a memory of the same agent and user, whose source is not trusted more"
_FINISH_SECONDS = 10.0


class Commits:
    def __init__(
        self,
        database: Database,
        transactions: Transactions,
        rules: CommitRules,
        embedder: CachedEmbedder,
        dedup_seconds: float,
    ) -> None:
        self._database = database
        self._transactions = transactions
        self._rules = rules
        self._embedder = embedder
        self._dedup_seconds = dedup_seconds

    @tracing.memory("upsert_memory", "agent_memory")
    async def commit(
        self,
        principal: Principal,
        memories: Sequence[CommitAgentMemoryInput],
        key: Key | None,
        deadline: Deadline,
    ) -> CommitBatchResult:
        """Commits all memories or none."""
        for memory in memories:
            principal.require_agent(memory.agent_name)
            principal.require_user(memory.user_id)
            content.require_mission(principal, memory.task_context)
        contents = [content.committed(principal, memory) for memory in memories]
        given = await self._prepared(principal.tenant, memories, contents, deadline)
        supersedes = [memory.supersedes for memory in memories]
        queues = any(commit.vector is None for commit in given.commits)
        plain = key is None and not any(supersedes)
        if plain:
            new = await self._transactions.call(
                principal.tenant, lambda c: self._rules.commit_new(c, given), deadline, queues=queues
            )
            if new is not None:
                return CommitBatchResult(new)

        async def work(c: Connection) -> CommitBatchResult:
            new = None if plain else await self._rules.commit_new(c, given)
            results = new or await self._rules.commit(c, principal, given.commits)
            for older, result in zip(supersedes, results, strict=True):
                if older is not None:
                    await _supersede(c, principal, older, result.memory_id)
            return CommitBatchResult(results)

        agents = sorted({memory.agent_name for memory in memories})
        scope = f"agent:{agents[0]}" if len(agents) == 1 else "shared"
        if key is not None:
            users, missions = zip(*((one.user_id, one.mission_namespace) for one in contents), strict=True)
            key = key.about(agents, users, missions)
        return await self._transactions.once(
            principal, scope, CommitBatchResult, work, key, deadline, queues=queues
        )

    async def _prepared(
        self,
        tenant: str,
        memories: Sequence[CommitAgentMemoryInput],
        contents: Sequence[MemoryContent],
        deadline: Deadline,
    ) -> Prepared:
        vectors = await self._dedup_vectors(tenant, contents, deadline)
        facts = await content_hashes(contents)
        commits = [
            Commit(memory.agent_name, stated, fact, vector)
            for memory, stated, fact, vector in zip(memories, contents, facts, vectors, strict=True)
        ]
        return await self._rules.prepare(tenant, commits)

    @tracing.memory("update_memory", "agent_memory")
    async def edit(
        self, principal: Principal, memory_id: int, change: EditAgentMemoryInput, deadline: Deadline
    ) -> int:
        """Returns the id of the edited memory. If another memory absorbed `memory_id`, it edits that one."""
        row = await self._database.run(
            principal.tenant, lambda c: find_own(c, principal, memory_id), deadline
        )
        content.require_mission(principal, change.task_context)
        stored = queries.content_of(row)
        memory = content.edited(stored, change, principal)
        vector = None
        if memory.content != stored.content:
            (vector,) = await self._dedup_vectors(principal.tenant, [memory], deadline)

        async def work(c: Connection) -> int:
            await queries.lock_agents(c, principal.tenant, [row["agent_name"]])
            current = await queries.read(c, principal.tenant, row["id"])
            if current is None:
                raise NotFound(f"no memory {memory_id}")
            await self._rules.edit(c, principal, current, change, vector)
            return int(row["id"])

        return await self._transactions.run(principal.tenant, work, deadline)

    @tracing.memory("delete_memory", "agent_memory")
    async def delete(self, principal: Principal, memory_id: int, deadline: Deadline) -> DeleteAnswer:
        tenant = principal.tenant

        async def work(c: Connection) -> DeleteAnswer:
            row = await find_own(c, principal, memory_id)
            await queries.lock_agents(c, tenant, [row["agent_name"]])
            if not await queries.delete(c, tenant, row["id"], row["agent_name"]):
                raise NotFound(f"no memory {memory_id}")
            await queries.add_event(c, tenant, row["agent_name"], "memory_delete", {"id": row["id"]})
            return DeleteAnswer(row["id"])

        return await self._transactions.run(tenant, work, deadline)

    async def _dedup_vectors(
        self, tenant: str, memories: Sequence[MemoryContent], deadline: Deadline
    ) -> list[HalfVector | None]:
        """Only short memories are compared by meaning, so only they wait for their vectors."""
        short = [place for place, memory in enumerate(memories) if len(chunk(memory.content)) == 1]
        vectors: list[HalfVector | None] = [None] * len(memories)
        if not short:
            return vectors
        texts = [spoken(memories[place].speaker, memories[place].content) for place in short]
        patience = min(self._dedup_seconds, deadline.left() / 2)
        embedded = await embed_within(self._embedder, texts, "document", tenant, patience)
        if embedded.vectors is None:
            return vectors
        for place, vector in zip(short, embedded.vectors, strict=True):
            vectors[place] = HalfVector(vector)
        return vectors


async def _supersede(c: Connection, principal: Principal, older: int, newer: int) -> None:
    """Raises Invalid for a memory that the principal may not change, or that the newer one may not supersede."""
    try:
        row = await find_own(c, principal, older)
        done = await queries.supersede(c, principal.tenant, row["id"], newer)
    except (NotFound, Forbidden):
        done = False
    if not done:
        raise Invalid.field("supersedes", _NOT_ITS_OWN)


async def find_own(c: Connection, principal: Principal, memory_id: int) -> asyncpg.Record:
    """A memory that the principal may change. Raises NotFound, Forbidden."""
    row = await find_visible(c, principal, memory_id)
    principal.require_author(row["agent_name"])
    if not content.may_change(principal, row["mission_namespace"], row["written_by"]):
        raise Forbidden("this key has no grant for the mission of this memory")
    return row


class LateVectors:
    """Stores the vectors that the indexer made, or merges memories that they show to be duplicates."""

    def __init__(self, database: Database, rules: CommitRules, doorbell: Doorbell) -> None:
        self._database = database
        self._rules = rules
        self._doorbell = doorbell

    async def finish(self, embedded: Sequence[Embedded]) -> None:
        """Runs one transaction per agent, with its lock."""
        for (tenant, agent), memories in groupby(sorted(embedded, key=_owner), key=_owner):
            await self._finish_agent(tenant, agent, list(memories))
            self._doorbell.ring(tenant)

    async def _finish_agent(self, tenant: str, agent: str, embedded: Sequence[Embedded]) -> None:
        async def work(c: Connection) -> None:
            await queries.lock_agents(c, tenant, [agent])
            for row, vectors in embedded:
                await self._rules.finish(c, tenant, row, vectors)

        await self._database.transaction(tenant, work, Deadline(_FINISH_SECONDS))


def _owner(embedded: Embedded) -> tuple[str, str]:
    return embedded.row["tenant"], embedded.row["agent_name"]
