"""Commits, edits and deletions of memories, and the vectors that arrive after a commit."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from itertools import groupby

import asyncpg
from pgvector import HalfVector

from services.agent_memory.memories.commits import content, queries, queries_write
from services.agent_memory.memories.commits.content import MemoryContent
from services.agent_memory.memories.commits.prepared import Prepared, prepare
from services.agent_memory.memories.commits.queries_repeats import Commit
from services.agent_memory.memories.commits.rows import content_hashes
from services.agent_memory.memories.commits.rules import CommitRules
from services.agent_memory.memories.commits.waiting import about, waiting_of
from services.agent_memory.memories.schemas import (
    CommitAgentMemoryInput,
    CommitBatchResult,
    CommitResult,
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
from shared.review.reviews import Reviews, require_unreviewed
from shared.review.schemas import Waiting
from shared.search.chunking import is_short
from shared.telemetry import tracing

_NOT_ITS_OWN = "must be a memory of the same agent and user, whose source is not trusted more"
NOT_THE_SAME = "must be a memory of the same agent and user, whose source is trusted as much"
_FINISH_SECONDS = 10.0
# Turns of the event loop until the embedder's first request has left.
_STEPS_TO_A_REQUEST = 3


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
        self._reviews = Reviews("memory")

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
        plain = key is None and not any(supersedes) and queries_write.in_one_statement(given.words)
        if plain:
            new = await self._transactions.call(
                principal.tenant, lambda c: self._rules.commit_new(c, given), deadline, queues=queues
            )
            if new is not None:
                return CommitBatchResult(new)

        async def work(c: Connection) -> CommitBatchResult:
            new = None if plain else await self._rules.commit_new(c, given)
            results = new or await self._commit_or_wait(c, principal, memories, given.commits)
            for older, result in zip(supersedes, results, strict=True):
                if older is not None and result.memory_id > 0:
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

    async def _commit_or_wait(
        self,
        c: Connection,
        principal: Principal,
        memories: Sequence[CommitAgentMemoryInput],
        commits: Sequence[Commit],
    ) -> list[CommitResult]:
        """What has to wait for a reviewer confirms and changes nothing."""

        def write_of(place: int, rules: list[str]) -> Waiting:
            return waiting_of(commits[place], memories[place], rules)

        abouts = [about(commit.agent, commit.memory) for commit in commits]
        held = await self._reviews.held(c, principal, abouts, write_of)
        free = [commit for place, commit in enumerate(commits) if place not in held]
        done = iter(await self._rules.commit(c, principal, free) if free else ())
        return [_waits(held[place]) if place in held else next(done) for place in range(len(commits))]

    async def commit_reviewed(
        self, writer: Principal, memory: CommitAgentMemoryInput, deadline: Deadline
    ) -> Callable[[Connection], Awaitable[int]]:
        """What commits, in a transaction, what a reviewer approved. What it was to supersede may be gone by now."""
        given = await self._prepared(writer.tenant, [memory], [content.committed(writer, memory)], deadline)

        async def work(c: Connection) -> int:
            (result,) = await self._rules.commit(c, writer, given.commits)
            if memory.supersedes is not None:
                with suppress(Invalid):
                    await _supersede(c, writer, memory.supersedes, result.memory_id)
            return result.memory_id

        return work

    async def repeat_reviewed(
        self, writer: Principal, memory: CommitAgentMemoryInput, into: int, deadline: Deadline
    ) -> Callable[[Connection], Awaitable[int]]:
        """What lets, in a transaction, what waited confirm a memory of the same agent and user."""
        stated = content.committed(writer, memory)
        given = await self._prepared(writer.tenant, [memory], [stated], deadline)

        async def work(c: Connection) -> int:
            await queries.lock_agents(c, writer.tenant, [memory.agent_name])
            row = await queries.hold(c, writer.tenant, into)
            if row is None or (row["agent_name"], row["user_id"]) != (memory.agent_name, memory.user_id):
                raise Invalid.field("into", NOT_THE_SAME)
            await self._rules.repeat(c, writer, row, given.commits[0])
            return into

        return work

    async def _prepared(
        self,
        tenant: str,
        memories: Sequence[CommitAgentMemoryInput],
        contents: Sequence[MemoryContent],
        deadline: Deadline,
    ) -> Prepared:
        """What needs no vectors is made while these are."""
        vectors = asyncio.create_task(self._dedup_vectors(tenant, contents, deadline))
        try:
            for _ in range(_STEPS_TO_A_REQUEST):
                await asyncio.sleep(0)
            hashes = await content_hashes(contents)
            commits = [
                Commit(memory.agent_name, stated, own.content, own.stated, None)
                for memory, stated, own in zip(memories, contents, hashes, strict=True)
            ]
            given = await prepare(tenant, commits)
            return given.with_vectors(await vectors)
        finally:
            vectors.cancel()

    @tracing.memory("update_memory", "agent_memory")
    async def edit(
        self, principal: Principal, memory_id: int, change: EditAgentMemoryInput, deadline: Deadline
    ) -> int:
        """Returns the id of the edited memory. If another memory absorbed `memory_id`, it edits that one."""
        work = await self.editing(principal, memory_id, change, deadline)
        return await self._transactions.run(principal.tenant, work, deadline)

    async def editing(
        self, principal: Principal, memory_id: int, change: EditAgentMemoryInput, deadline: Deadline
    ) -> Callable[[Connection], Awaitable[int]]:
        """What edits it in a transaction."""
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
            await require_unreviewed(c, principal, about(row["agent_name"], queries.content_of(current)))
            await self._rules.edit(c, principal, current, change, vector)
            return int(row["id"])

        return work

    @tracing.memory("delete_memory", "agent_memory")
    async def delete(self, principal: Principal, memory_id: int, deadline: Deadline) -> DeleteAnswer:
        async def work(c: Connection) -> DeleteAnswer:
            return DeleteAnswer(await self.erase(c, principal, memory_id))

        return await self._transactions.run(principal.tenant, work, deadline)

    async def erase(self, c: Connection, principal: Principal, memory_id: int) -> int:
        """Returns the id of the memory that held it. Call it in a transaction."""
        tenant = principal.tenant
        row = await find_own(c, principal, memory_id)
        await queries.lock_agents(c, tenant, [row["agent_name"]])
        if not await queries.delete(c, tenant, row["id"], row["agent_name"]):
            raise NotFound(f"no memory {memory_id}")
        event = queries.NewEvent(row["agent_name"], {"id": row["id"]})
        await queries.add_events(c, tenant, "memory_delete", [event])
        return int(row["id"])

    async def merge(self, c: Connection, principal: Principal, memory_id: int, into: int) -> int:
        """Leaves the memory readable, superseded by another one of its agent and user, which it confirms."""
        row = await find_own(c, principal, memory_id)
        other = await find_own(c, principal, into)
        await queries.lock_agents(c, principal.tenant, [row["agent_name"]])
        held = await queries.hold(c, principal.tenant, row["id"])
        if held is None or not await queries.supersede(c, principal.tenant, row["id"], other["id"]):
            raise Invalid.field("into", NOT_THE_SAME)
        repetition = queries.confirmation(principal.tenant, other["id"], queries.content_of(held))
        await queries.confirm(c, principal.tenant, [repetition])
        return int(other["id"])

    async def _dedup_vectors(
        self, tenant: str, memories: Sequence[MemoryContent], deadline: Deadline
    ) -> list[HalfVector | None]:
        """Only short memories are compared by meaning, so only they wait for their vectors."""
        short = [place for place, memory in enumerate(memories) if is_short(memory.content)]
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


def _waits(waiting_id: int) -> CommitResult:
    return CommitResult(waiting_id, duplicate_detected=False, status="pending", review="pending")


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
