"""The rules of the agent-memory service: commit with dedup, search of one's own and of peers' memories."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

import asyncpg
import msgspec
import structlog
from pgvector import HalfVector

from services.agent_memory import queries, ranking
from services.agent_memory.links import Vault
from services.agent_memory.queries import Look
from services.agent_memory.schemas import (
    AgentMemory,
    CommitAgentMemoryInput,
    CommitResult,
    FoundMemories,
    FoundMemory,
    ListAgentMemoryInput,
    MemoryType,
    QueryAgentMemoryInput,
    QueryPeerMemoryInput,
)
from services.agent_memory.settings import Settings
from shared.auth import Principal
from shared.deadline import Deadline
from shared.embeddings import Embedder, EmbedderUnavailable, same_fact
from shared.errors import AppError
from shared.idempotency import Key, Records
from shared.indexer import Indexer, IndexStatements
from shared.postgres import Connection, Database
from shared.remembered import head, spoken, utc
from shared.search.chunking import Chunk, chunk
from shared.search.counts import EXACT_UP_TO, HNSW_SETTINGS, ScopeCounts
from shared.search.evidence import (
    DEPTH,
    Candidate,
    SearchRequest,
    SearchResult,
    candidate_from_row,
    decode_vector,
    store_result,
)
from shared.search.relevance import Question, score
from shared.search.sql import scope_key
from shared.timeline import Doorbell
from shared.tokens import estimate_tokens

log = structlog.get_logger()

OWN = "agent_memory_own"
PEER = "agent_memory_peer"
_FLUSH_SECONDS = 0.5
# Of the time left, for the query's vector: when it is late, there must be time to search by text.
_EMBED_SHARE = 0.5


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
        self._counts = ScopeCounts()
        self._accesses: Counter[tuple[str, int]] = Counter()
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
        )

    async def commit(
        self, principal: Principal, memory: CommitAgentMemoryInput, key: Key | None, deadline: Deadline
    ) -> CommitResult:
        principal.require_agent(memory.agent_name)
        chunks = chunk(memory.content)
        # Only short memories are compared by meaning, so only those wait for their vector.
        vector = await self._dedup_vector(memory, deadline) if len(chunks) == 1 else None

        async def work(connection: Connection) -> CommitResult:
            return await self._commit(connection, principal, memory, chunks, vector)

        async def once(connection: Connection) -> CommitResult:
            assert key is not None
            scope = f"agent:{memory.agent_name}"
            return await self.records.once(
                connection, principal.tenant, scope, key, CommitResult, lambda: work(connection)
            )

        result = await self._database.transaction(work if key is None else once, deadline)
        self._doorbell.ring(principal.tenant)
        self.indexer.wake()
        return result

    async def _dedup_vector(self, memory: CommitAgentMemoryInput, deadline: Deadline) -> HalfVector | None:
        patience = min(self._settings.dedup_seconds, deadline.left() / 2)
        try:
            vectors = await asyncio.wait_for(
                self._embedder.embed([spoken(memory.speaker, memory.content)], "document"), patience
            )
        except (EmbedderUnavailable, TimeoutError):
            return None
        return HalfVector(vectors[0])

    async def _commit(
        self,
        connection: Connection,
        principal: Principal,
        memory: CommitAgentMemoryInput,
        chunks: list[Chunk],
        vector: HalfVector | None,
    ) -> CommitResult:
        tenant, agent, model = principal.tenant, memory.agent_name, self._embedder.model
        task = memory.task_context
        outcome = task.outcome if task else None
        content_hash = hashlib.sha256(memory.content.strip().encode()).digest()
        await queries.lock_agent(connection, tenant, agent)
        known = await queries.same_content(connection, tenant, agent, content_hash)
        if known is None and vector is not None:
            near = await queries.nearest(
                connection, tenant, agent, model, vector, self._embedder.dedup_distance, memory.private
            )
            known = next((id_ for id_, content in near if same_fact(memory.content, content)), None)
        if known is not None:
            await queries.confirm(connection, tenant, known, outcome)
            result = CommitResult(memory_id=known, duplicate_detected=True, status="updated")
        else:
            memory_id = await queries.insert(
                connection, *self._insert_values(principal, memory, content_hash, chunks)
            )
            if vector is not None:
                await queries.insert_vector(
                    connection, tenant, agent, memory_id, model, memory.private, vector
                )
            else:
                await queries.queue(connection, tenant, agent, memory_id, model)
            pending = vector is None and len(chunks) == 1
            result = CommitResult(
                memory_id=memory_id, duplicate_detected=False, status="pending" if pending else "created"
            )
        await queries.committed(
            connection,
            tenant,
            agent,
            task.mission_namespace if task else None,
            memory.session_id,
            result.memory_id,
            memory.memory_type,
            result.status,
        )
        return result

    @staticmethod
    def _insert_values(
        principal: Principal, memory: CommitAgentMemoryInput, content_hash: bytes, chunks: list[Chunk]
    ) -> tuple[Any, ...]:
        task = memory.task_context
        occurred_at = utc(memory.occurred_at)
        skills = task.skills_used if task else []
        return (
            principal.tenant,
            memory.agent_name,
            memory.content,
            content_hash,
            memory.memory_type,
            task.task_description if task else None,
            skills,
            task.outcome if task else None,
            task.mission_namespace if task else None,
            memory.private,
            estimate_tokens(memory.content),
            occurred_at,
            memory.session_id,
            memory.seq,
            memory.speaker,
            principal.key,
            memory.source_kind,
            memory.recalled_from,
            [c.start for c in chunks],
            [c.stop for c in chunks],
            [memory.content[c.start : c.stop] for c in chunks],
            head(
                memory.speaker or memory.agent_name,
                occurred_at,
                memory.memory_type.replace("_", " "),
                task.task_description if task else None,
                *skills,
            ),
            [
                scope_key(principal.tenant, f"agent:{memory.agent_name}"),
                *([] if memory.private else [scope_key(principal.tenant, queries.EVERY_AGENT)]),
            ],
        )

    async def query(
        self, principal: Principal, request: QueryAgentMemoryInput, deadline: Deadline
    ) -> FoundMemories:
        """An agent's own memories by composite score. Reading counts as an access."""
        principal.require_agent(request.agent_name)
        found = await self._find(
            principal, queries.search_own, request.agent_name, request.query, request.memory_type, deadline
        )
        found.memories.sort(key=lambda memory: -memory.score)
        del found.memories[request.limit :]
        self.count_accesses(principal.tenant, [memory.id for memory in found.memories])
        return found

    async def query_peer(
        self, principal: Principal, request: QueryPeerMemoryInput, deadline: Deadline
    ) -> FoundMemories:
        """One other agent's memories that are not private. Leaves its access counts alone."""
        found = await self._find(
            principal, queries.search_peer, request.target_agent, request.query, request.memory_type, deadline
        )
        del found.memories[request.limit :]
        return found

    async def _find(
        self,
        principal: Principal,
        search: Any,
        agent_name: str,
        query: str,
        memory_type: MemoryType | None,
        deadline: Deadline,
    ) -> FoundMemories:
        degraded: list[str] = []
        vector = None
        try:
            patience = deadline.left() * _EMBED_SHARE
            embedded = await asyncio.wait_for(self._embedder.embed([query], "query"), patience)
            vector = HalfVector(embedded[0])
        except (EmbedderUnavailable, TimeoutError):
            degraded.append("embedder: searched by text only")

        async def look(c: Connection) -> list[asyncpg.Record]:
            only = None
            if memory_type is not None:
                only = await queries.ids_of_type(c, principal.tenant, agent_name, memory_type)
            wanted = Look(principal.tenant, query, vector, self._embedder.model, DEPTH, only)
            rows: list[asyncpg.Record] = await search(c, wanted, agent_name)
            return rows

        rows = await self._database.run(look, deadline)
        by_id = {row["item_id"]: row for row in rows if row["item_id"] is not None}
        memories: dict[int, FoundMemory] = {}
        for scored in score(Question(query, self._embedder.model), [store_result(OWN, rows, _candidate)]):
            if scored.candidate.id not in memories:
                memories[scored.candidate.id] = _found(by_id[scored.candidate.id], scored.relevance)
        return FoundMemories(memories=list(memories.values()), degraded=degraded)

    async def search(self, principal: Principal, request: SearchRequest, deadline: Deadline) -> SearchResult:
        """Own and peers' memories of `request.agent`, by the stores asked for."""
        assert request.agent is not None
        principal.require_agent(request.agent)
        agent = request.agent
        vector = None if request.vector is None else HalfVector(decode_vector(request.vector))
        wanted = Look(principal.tenant, request.query, vector, request.model, request.depth)
        known = self._counts.get(principal.tenant)

        async def look(c: Connection) -> SearchResult:
            result = SearchResult(lexemes=[], stores={})
            if OWN in request.stores:
                result = store_result(OWN, await queries.search_own(c, wanted, agent), _own_candidate)
            if PEER in request.stores:
                rows = await queries.search_peers(
                    c, msgspec.structs.replace(wanted, documents=known), agent, approximate=approximate
                )
                if known is None:
                    self._counts.put(principal.tenant, rows[0]["documents"])
                peers = store_result(PEER, rows, _candidate)
                result = SearchResult(lexemes=peers.lexemes, stores={**result.stores, **peers.stores})
            return result

        approximate = known is not None and known > EXACT_UP_TO and PEER in request.stores
        if approximate:
            return await self._database.transaction(look, deadline, settings=HNSW_SETTINGS)
        return await self._database.run(look, deadline)

    async def list_memories(
        self, principal: Principal, request: ListAgentMemoryInput, deadline: Deadline
    ) -> list[AgentMemory]:
        principal.require_agent(request.agent_name)
        rows = await self._database.run(
            lambda c: queries.list_memories(
                c, principal.tenant, request.agent_name, request.memory_type, request.limit, request.offset
            ),
            deadline,
        )
        return [AgentMemory(**dict(row)) for row in rows]

    async def pending_review(
        self, principal: Principal, since: dict[str, datetime], deadline: Deadline
    ) -> dict[str, int]:
        """How many memories each agent gained since its time."""
        return await self._database.run(
            lambda c: queries.count_since(c, principal.tenant, list(since), list(since.values())), deadline
        )

    async def purge(self, principal: Principal, scope: str, deadline: Deadline) -> dict[str, int]:
        """Every row of the scope, from every table of this service; counts per table."""

        async def erase(connection: Connection) -> dict[str, int]:
            counts: dict[str, int] = {}
            for table, statement in queries.PURGE:
                done = await connection.execute(statement, principal.tenant, scope)
                counts[table] = int(done.rsplit(" ", 1)[-1])
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
            await self._database.run(lambda c: queries.count_accesses(c, counts), Deadline(5))
        except AppError as error:
            self._accesses.update(counts)
            log.debug("access counts wait", error=error.detail)


def _chunks_to_embed(row: asyncpg.Record) -> list[str]:
    text = row["content"]
    return [
        spoken(row["who"], text[start:stop]) for start, stop in zip(row["starts"], row["stops"], strict=True)
    ]


def _candidate(row: asyncpg.Record) -> Candidate:
    return candidate_from_row(row, row["content"][row["start"] : row["stop"]])


def _own_candidate(row: asyncpg.Record) -> Candidate:
    candidate = _candidate(row)
    candidate.composite = {
        "access": ranking.access_boost(row["access_count"], row["most_accessed"] or 0),
        "outcome": ranking.outcome_boost(row["outcome"]),
    }
    return candidate


_FIELDS = [field for field in AgentMemory.__struct_fields__ if field not in ("id", "memory_type")]


def _found(row: asyncpg.Record, relevance: float) -> FoundMemory:
    parts = {
        "relevance": round(relevance, 4),
        "access": ranking.access_boost(row["access_count"], row.get("most_accessed") or 0),
        "outcome": ranking.outcome_boost(row["outcome"]),
    }
    return FoundMemory(
        id=row["item_id"],
        memory_type=row["kind"],
        score=round(ranking.composite(**parts), 4),
        score_parts=parts,
        **{field: row[field] for field in _FIELDS},
    )
