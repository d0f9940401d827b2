"""The rules of commits, edits and late vectors.

Every method runs in its caller's transaction. That holds the lock of the memory's agent; a commit takes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

import asyncpg
from pgvector import HalfVector

from services.agent_memory.chunk_words import ChunkWords
from services.agent_memory.memories.commits import queries, queries_vectors, queries_write
from services.agent_memory.memories.commits.content import MemoryContent, edited, may_change, merge
from services.agent_memory.memories.commits.prepared import Prepared, prepare
from services.agent_memory.memories.commits.queries import Absorbed, NewEvent, content_of
from services.agent_memory.memories.commits.queries_repeats import Commit, find_repeats
from services.agent_memory.memories.commits.repeats import Earlier, Repeats, Stored
from services.agent_memory.memories.commits.rows import Hashes, MemoryRow, content_hashes, made
from services.agent_memory.memories.schemas import CommitResult, EditAgentMemoryInput
from shared.auth import Principal
from shared.concurrency.threads import beside
from shared.database.postgres import Connection
from shared.embeddings import CachedEmbedder, same_fact
from shared.errors import Conflict


class Repetition(NamedTuple):
    commit: Commit
    memory_id: int
    """The memory that states the same."""


class _Repeated(NamedTuple):
    results: list[CommitResult]
    moved: bool
    """Whether something changed that decides what later commits repeat. These have no results yet."""


class CommitRules:
    def __init__(self, embedder: CachedEmbedder) -> None:
        self._model = embedder.model
        self._distance = embedder.dedup_distance

    async def commit_new(self, c: Connection, given: Prepared) -> list[CommitResult] | None:
        """Commits all in one round trip, also without a transaction; many words need one, and take several. None, with
        nothing written, if one of them may repeat something."""
        facts = {(commit.agent, commit.fact) for commit in given.commits}
        if len(facts) < len(given.commits):
            return None
        ids = await queries_write.commit_new(
            c,
            given.tenant,
            given.commits,
            given.rows,
            given.words,
            model=self._model,
            distance=self._distance,
        )
        return _created(ids, given.rows) if ids else None

    async def commit(
        self, c: Connection, principal: Principal, commits: Sequence[Commit]
    ) -> list[CommitResult]:
        """Commits one after the other, in as few statements as their repeats allow."""
        await queries.lock_agents(c, principal.tenant, [commit.agent for commit in commits])
        results: list[CommitResult] = []
        while len(results) < len(commits):
            # What a repeat changed may decide what the later ones repeat, so they look again, each for itself.
            rest = commits[len(results) :]
            results += await self._commit(c, principal, rest[:1] if results else rest)
        return results

    async def _commit(
        self, c: Connection, principal: Principal, commits: Sequence[Commit]
    ) -> list[CommitResult]:
        """Ends early behind a repeat that changed what others may repeat."""
        repeats = Repeats(commits, await self._find(c, principal.tenant, commits))
        repeated: list[Stored | Earlier | None] = []
        for place in range(len(commits)):
            repeated.append(await beside(repeats.compared(place), repeats.of, place))
            if repeated[-1] is None:
                repeats.add_new(place)
        results: list[CommitResult] = []
        # One after the other, those that follow each other and are new, or are not, by the same statements.
        for is_new, run in groupby(zip(commits, repeated, strict=True), lambda one: one[1] is None):
            if is_new:
                results += await self._create(c, principal.tenant, [commit for commit, _ in run])
                continue
            repetitions = [
                Repetition(commit, results[of.place].memory_id if isinstance(of, Earlier) else of.memory_id)
                for commit, of in run
                if of is not None
            ]
            done = await self._repeat_all(c, principal, repetitions)
            results += done.results
            if done.moved:
                break
        return results

    async def _repeat_all(
        self, c: Connection, principal: Principal, repetitions: Sequence[Repetition]
    ) -> _Repeated:
        """What changes nothing that its memory states is written by a statement for each table."""
        tenant, results = principal.tenant, list[CommitResult]()
        held = await queries.hold_all(c, tenant, [one.memory_id for one in repetitions])
        quiet: list[Repetition] = []
        for one in repetitions:
            row = held.get(one.memory_id)
            if row is None:  # purged meanwhile
                await self._confirm(c, tenant, quiet)
                return _Repeated(results + await self._create(c, tenant, [one.commit]), moved=True)
            results.append(CommitResult(memory_id=row["id"], duplicate_detected=True, status="updated"))
            if _merged(principal, row, one.commit) == content_of(row):
                quiet.append(one)
                continue
            await self._confirm(c, tenant, quiet)
            quiet = []
            if await self.repeat(c, principal, row, one.commit):
                return _Repeated(results, moved=True)
            held |= await queries.hold_all(c, tenant, [one.memory_id])
        await self._confirm(c, tenant, quiet)
        return _Repeated(results, moved=False)

    async def _confirm(self, c: Connection, tenant: str, repetitions: Sequence[Repetition]) -> None:
        if not repetitions:
            return
        confirmations = [queries.confirmation(tenant, id_, commit.memory) for commit, id_ in repetitions]
        await queries.confirm(c, tenant, confirmations)
        events = [
            NewEvent.of(
                commit.agent,
                commit.memory,
                {"id": id_, "memory_type": commit.memory.memory_type, "status": "updated"},
            )
            for commit, id_ in repetitions
        ]
        await queries.add_events(c, tenant, "memory_commit", events)

    async def _create(self, c: Connection, tenant: str, commits: Sequence[Commit]) -> list[CommitResult]:
        """Inserts the memories in one statement."""
        given = await prepare(tenant, commits)
        vectors = [commit.vector for commit in commits]
        ids = await queries_write.insert(
            c, tenant, given.rows, given.words, vectors, model=self._model, events=True
        )
        return _created(ids, given.rows)

    async def restore(self, c: Connection, row: MemoryRow, words: ChunkWords) -> None:
        """Inserts a memory without telling the timeline. It waits for its vector."""
        await queries_write.insert(c, row.tenant, [row], [words], [None], model=self._model, events=False)

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
            (own,) = await content_hashes([memory])
            commit = Commit(agent, memory, own.content, own.stated, vector)
            near = await self._find(c, tenant, [commit], other_than=row["id"])
            known = Repeats([commit], near).of(0)
            if isinstance(known, Stored) and known.memory_id != row["id"]:
                message = f"memory {known.memory_id} of this agent says the same"
                raise Conflict(message, memory_id=known.memory_id)
        await self._restate(c, tenant, row, memory, vector)
        await queries.add_events(c, tenant, "memory_edit", [NewEvent.of(agent, memory, {"id": row["id"]})])

    async def finish(
        self, c: Connection, tenant: str, read: asyncpg.Record, vectors: Sequence[HalfVector]
    ) -> None:
        """Stores the vectors of what the indexer read, or merges the memory with its duplicate if it waited for
        them."""
        memory_id = read["item_id"]
        row = await queries.read(c, tenant, memory_id)
        if row is None or (row["content"], row["speaker"] or "") != (read["content"], read["who"]):
            return  # deleted; or restated, and queued again
        if row["pending"]:
            late = Commit(row["agent_name"], content_of(row), None, row["stated_hash"], vectors[0])
            near = await self._find(c, tenant, [late], other_than=memory_id)
            duplicate = next((other["id"] for other in near if _may_merge(late.memory, other)), None)
            if duplicate is not None and await self._absorb(c, tenant, memory_id, duplicate, vectors[0]):
                return
        if await queries.hold(c, tenant, memory_id) is not None:  # not purged meanwhile
            await self._store_vectors(c, tenant, memory_id, vectors)

    async def _find(
        self, c: Connection, tenant: str, commits: Sequence[Commit], *, other_than: int = 0
    ) -> list[asyncpg.Record]:
        return await find_repeats(
            c, tenant, commits, model=self._model, distance=self._distance, other_than=other_than
        )

    async def repeat(
        self, c: Connection, principal: Principal, row: asyncpg.Record, repetition: Commit
    ) -> bool:
        """Confirms the memory. Only a key that may change it changes what it states. True when the change may decide
        which memories others repeat."""
        merged = _merged(principal, row, repetition)
        await self._restate(c, principal.tenant, row, merged, repetition.vector)
        await self._confirm(c, principal.tenant, [Repetition(repetition, row["id"])])
        return _compared(merged) != _compared(content_of(row))

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
        await queries.confirm(c, tenant, [queries.confirmation(tenant, older["id"], repetition, absorbed)])
        memory = merge(content_of(older), repetition)
        reworded = await self._restate(c, tenant, older, memory, vector if newer["id"] == memory_id else None)
        if older["id"] == memory_id and not reworded:
            await self._store_vectors(c, tenant, memory_id, [vector])
        event = {"id": older["id"], "absorbed": newer["id"]}
        await queries.add_events(
            c, tenant, "memory_merge", [NewEvent.of(older["agent_name"], repetition, event)]
        )
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
        own = Hashes(row["content_hash"], row["stated_hash"])
        if memory.content != stored.content:
            (own,) = await content_hashes([memory])
        restated, words = await made(tenant, agent, memory, own, id=memory_id)
        await queries_write.restate(c, restated, words)
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


def _merged(principal: Principal, row: asyncpg.Record, repetition: Commit) -> MemoryContent:
    """What the memory states after the repetition."""
    stored = content_of(row)
    if not may_change(principal, row["mission_namespace"], row["written_by"]):
        return stored
    return merge(stored, repetition.memory)


def _compared(memory: MemoryContent) -> tuple[str, str | None, bool]:
    """What a memory's words and vector are made of, and where they are compared."""
    return memory.content, memory.speaker, memory.private


def _may_merge(memory: MemoryContent, other: asyncpg.Record) -> bool:
    """The bounds of the writing keys are unknown by now. A key that wrote both in one mission may change both."""
    writer = memory.written_by, memory.mission_namespace
    return writer == (other["written_by"], other["mission_namespace"]) and same_fact(
        memory.content, other["content"]
    )


def _created(ids: Sequence[int], rows: Sequence[MemoryRow]) -> list[CommitResult]:
    return [
        CommitResult(
            memory_id=memory_id, duplicate_detected=False, status="pending" if row.pending else "created"
        )
        for memory_id, row in zip(ids, rows, strict=True)
    ]
