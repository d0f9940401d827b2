"""Commit without doubles, edits, and what is done once a late vector arrives. Each under the agent's lock."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import asyncpg
import msgspec
from pgvector import HalfVector

from services.agent_memory.memories import queries_writes as sql
from services.agent_memory.memories.merging import Statement, merge
from services.agent_memory.memories.queries_search import EVERY_AGENT
from services.agent_memory.memories.queries_writes import Restored
from services.agent_memory.memories.schemas import CommitAgentMemoryInput, CommitResult, EditAgentMemoryInput
from shared.auth import Principal
from shared.database.postgres import Connection
from shared.embeddings import Embedder, fact_key, same_fact
from shared.errors import Conflict
from shared.provenance import head, utc
from shared.search.chunking import chunk
from shared.search.sql import scope_key
from shared.tokens import estimate_tokens

_NEW = Restored()


def statement(principal: Principal, memory: CommitAgentMemoryInput) -> Statement:
    task = memory.task_context
    return Statement(
        content=memory.content,
        memory_type=memory.memory_type,
        task_description=task.task_description if task else None,
        skills_used=task.skills_used if task else [],
        outcome=task.outcome if task else None,
        mission_namespace=task.mission_namespace if task else None,
        private=memory.private,
        occurred_at=utc(memory.occurred_at),
        session_id=memory.session_id,
        seq=memory.seq,
        speaker=memory.speaker,
        user_id=memory.user_id,
        written_by=principal.key,
        source_kind=memory.source_kind,
        recalled_from=memory.recalled_from,
        dispatch_id=memory.dispatch_id,
    )


def hash_of(content: str, user_id: str | None) -> bytes:
    """Of a fact: the same of somebody else, or of nobody, is another."""
    fact = hashlib.sha256(fact_key(content).encode()).digest()
    return fact if user_id is None else hashlib.sha256(fact + user_id.encode()).digest()


def row_values(tenant: str, agent: str, said: Statement) -> list[Any]:
    """Tenant and agent, then what the statements take from $4 on."""
    chunks = chunk(said.content)
    every = [] if said.private else [scope_key(tenant, EVERY_AGENT)]
    return [
        tenant,
        agent,
        [c.start for c in chunks],
        [c.stop for c in chunks],
        [said.content[c.start : c.stop] for c in chunks],
        head(
            said.speaker or agent,
            said.occurred_at,
            said.memory_type.replace("_", " "),
            said.task_description,
            *said.skills_used,
        ),
        [scope_key(tenant, f"agent:{agent}"), *every],
        said.private,
        said.session_id,
        said.seq,
        said.user_id,
        said.content,
        hash_of(said.content, said.user_id),
        said.memory_type,
        said.task_description,
        said.skills_used,
        said.outcome,
        said.mission_namespace,
        said.occurred_at,
        said.speaker,
        said.written_by,
        said.source_kind,
        said.recalled_from,
        said.dispatch_id,
        estimate_tokens(said.content),
    ]


class Commits:
    """Every method runs inside a transaction that its caller opened and, but for `finish`, locked."""

    def __init__(self, embedder: Embedder) -> None:
        self._model = embedder.model
        self._distance = embedder.dedup_distance

    async def commit(
        self, c: Connection, tenant: str, agent: str, said: Statement, vector: HalfVector | None
    ) -> CommitResult:
        """`vector` is None when the embedder gave none, and for memories of more than one chunk."""
        known = await self._known(c, tenant, agent, said, vector)
        if known is not None:
            await self._repeat(c, tenant, known, said, vector)
            result = CommitResult(memory_id=known, duplicate_detected=True, status="updated")
        else:
            pending = vector is None and len(chunk(said.content)) == 1
            memory_id = await self.insert(c, tenant, agent, said, Restored(pending=pending), vector)
            result = CommitResult(
                memory_id=memory_id, duplicate_detected=False, status="pending" if pending else "created"
            )
        payload = {"id": result.memory_id, "memory_type": said.memory_type, "status": result.status}
        await sql.event(c, tenant, agent, "memory_commit", payload, said)
        return result

    async def insert(
        self,
        c: Connection,
        tenant: str,
        agent: str,
        said: Statement,
        restored: Restored = _NEW,
        vector: HalfVector | None = None,
    ) -> int:
        memory_id = await sql.insert(c, row_values(tenant, agent, said), restored)
        if vector is not None:
            await sql.put_vectors(c, tenant, memory_id, self._model, [vector])
        else:
            await sql.queue(c, tenant, agent, memory_id, self._model)
        return memory_id

    async def edit(
        self,
        c: Connection,
        principal: Principal,
        row: asyncpg.Record,
        change: EditAgentMemoryInput,
        vector: HalfVector | None,
    ) -> None:
        """Raises Conflict for a text that another memory of the agent states, or that is trusted less."""
        tenant, agent, known = principal.tenant, row["agent_name"], sql.statement_of(row)
        said = edited(known, change, principal)
        if said.content != known.content:
            if known.trusted and not said.trusted:
                raise Conflict(
                    f"a {said.source_kind}'s text does not replace what a {known.source_kind} said"
                )
            other = await self._known(c, tenant, agent, said, vector, but=row["id"])
            if other not in (None, row["id"]):
                raise Conflict(f"memory {other} of this agent says the same", memory_id=other)
        await self._restate(c, tenant, row, said, vector)
        await sql.event(c, tenant, agent, "memory_edit", {"id": row["id"]}, said)

    async def finish(
        self, c: Connection, tenant: str, memory_id: int, content: str, vectors: Sequence[HalfVector]
    ) -> None:
        """Stores the vectors of `content`, or lets the memory that said it first absorb this one."""
        row = await sql.read(c, tenant, memory_id)
        if row is None or row["content"] != content:
            return  # deleted; or edited, and queued again
        if row["pending"]:
            said = sql.statement_of(row)
            first = await self._near(c, tenant, row["agent_name"], said, vectors[0], but=memory_id)
            if first is not None:
                await self._absorb(c, tenant, row, first, vectors[0])
                return
        await sql.put_vectors(c, tenant, memory_id, self._model, vectors)
        await sql.settle(c, tenant, memory_id, self._model)

    async def _known(
        self,
        c: Connection,
        tenant: str,
        agent: str,
        said: Statement,
        vector: HalfVector | None,
        *,
        but: int = 0,
    ) -> int | None:
        known = await sql.same_fact(c, tenant, agent, hash_of(said.content, said.user_id))
        if known is None and vector is not None:
            known = await self._near(c, tenant, agent, said, vector, but=but)
        return known

    async def _near(
        self, c: Connection, tenant: str, agent: str, said: Statement, vector: HalfVector, *, but: int = 0
    ) -> int | None:
        near = await sql.nearest(
            *(c, tenant, agent, self._model, vector, self._distance),
            private=said.private,
            user_id=said.user_id,
            but=but,
        )
        return next((id_ for id_, content in near if same_fact(said.content, content)), None)

    async def _repeat(
        self, c: Connection, tenant: str, memory_id: int, said: Statement, vector: HalfVector | None
    ) -> None:
        row = await sql.read(c, tenant, memory_id)
        assert row is not None, "the agent's lock is held"
        await self._restate(c, tenant, row, merge(sql.statement_of(row), said), vector)
        await sql.confirm(c, tenant, memory_id, said)

    async def _absorb(
        self, c: Connection, tenant: str, row: asyncpg.Record, other: int, vector: HalfVector
    ) -> None:
        """The older of the two stays, under its id."""
        there = await sql.read(c, tenant, other)
        assert there is not None, "the agent's lock is held"
        older, newer = (row, there) if row["id"] < other else (there, row)
        known, repeat = sql.statement_of(older), sql.statement_of(newer)
        await sql.absorb(c, tenant, older["id"], newer["id"])
        await sql.confirm(c, tenant, older["id"], repeat, newer["id"])
        said = merge(known, repeat)
        restated = await self._restate(c, tenant, older, said, vector if newer is row else None)
        if older is row and not restated:
            await sql.put_vectors(c, tenant, row["id"], self._model, [vector])
            await sql.settle(c, tenant, row["id"], self._model)
        payload = {"id": older["id"], "absorbed": newer["id"]}
        await sql.event(c, tenant, row["agent_name"], "memory_merge", payload, repeat)

    async def _restate(
        self, c: Connection, tenant: str, row: asyncpg.Record, said: Statement, vector: HalfVector | None
    ) -> bool:
        """Writes what changed; a new wording drops the vectors and takes `vector` or waits for new ones."""
        known, agent, memory_id = sql.statement_of(row), row["agent_name"], row["id"]
        if said == known:
            return False
        await sql.restate(c, memory_id, row_values(tenant, agent, said))
        if (said.content, said.speaker) == (known.content, known.speaker):
            return False
        await sql.drop_vectors(c, tenant, memory_id)
        if vector is not None:
            await sql.put_vectors(c, tenant, memory_id, self._model, [vector])
            await sql.settle(c, tenant, memory_id, self._model)
        else:
            await sql.queue(c, tenant, agent, memory_id, self._model)
        return True


def edited(known: Statement, change: EditAgentMemoryInput, principal: Principal) -> Statement:
    said = known
    if change.memory_type is not None:
        said = msgspec.structs.replace(said, memory_type=change.memory_type)
    if change.private is not None:
        said = msgspec.structs.replace(said, private=change.private)
    if (task := change.task_context) is not None:
        said = msgspec.structs.replace(
            said,
            task_description=task.task_description,
            skills_used=task.skills_used,
            outcome=task.outcome,
            mission_namespace=task.mission_namespace,
        )
    if change.content is not None and change.content != known.content:
        said = msgspec.structs.replace(
            said, content=change.content, written_by=principal.key, source_kind=change.source_kind
        )
    return said
