"""The rules of the cache service: missions, their entries, and search over them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

import asyncpg
import structlog
from pgvector import HalfVector

from services.cache import queries
from services.cache.entries import branch_fields, entry_text, search_words
from services.cache.schemas import (
    CacheEntry,
    CacheStats,
    ClearReason,
    ClearResult,
    MissionLimits,
    QueryCacheInput,
    QueryResult,
    WriteCacheInput,
    WriteResult,
)
from services.cache.settings import Settings
from shared import metrics
from shared.auth import Principal
from shared.deadline import Deadline
from shared.embeddings import Embedder, EmbedderUnavailable
from shared.errors import AppError, Invalid, NotFound
from shared.idempotency import Key, Records
from shared.indexer import Indexer, IndexStatements
from shared.postgres import Connection, Database
from shared.remembered import head, spoken, utc
from shared.render import render_item
from shared.search.chunking import chunk
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
from shared.text import mission_problem
from shared.timeline import Doorbell
from shared.tokens import estimate_tokens

log = structlog.get_logger()

STORE = "psychic_cache"
HANDLE = "cache"
_SWEEP_SECONDS = 30.0
# Of the time left, for the query's vector: when it is late, there must be time to search by text.
_EMBED_SHARE = 0.5


class CacheService:
    def __init__(
        self, settings: Settings, database: Database, embedder: Embedder, doorbell: Doorbell
    ) -> None:
        self._settings = settings
        self._database = database
        self._embedder = embedder
        self._doorbell = doorbell
        self.records = Records("cache")
        self.indexer = Indexer(
            database,
            embedder,
            STORE,
            IndexStatements(
                schema="cache", items="psychic_cache", chunks="psychic_chunks", vectors="psychic_vec"
            ),
            queries.TEXTS,
            _chunks_to_embed,
        )

    async def write(
        self,
        principal: Principal,
        entry: WriteCacheInput,
        key: Key | None,
        deadline: Deadline,
        *,
        wait_indexed: bool = False,
    ) -> WriteResult:
        """Raises Unprocessable for an entry larger than the budget, Conflict when only checkpoints are left."""
        principal.require_mission(entry.mission_id)
        principal.require_agent(entry.agent_name)
        values = self._put_values(principal, entry)
        tokens = estimate_tokens(entry.content)

        async def put(connection: Connection) -> WriteResult:
            row = await queries.put_entry(connection, *values)
            return WriteResult(
                id=row["entry_id"],
                token_count=tokens,
                cache_total_tokens=row["total_tokens"],
                evicted_count=row["evicted"],
            )

        async def put_once(connection: Connection) -> WriteResult:
            assert key is not None
            scope = f"mission:{entry.mission_id}"
            return await self.records.once(
                connection, principal.tenant, scope, key, WriteResult, lambda: put(connection)
            )

        if key is None:
            result = await self._database.run(put, deadline)
        else:
            result = await self._database.transaction(put_once, deadline)
        metrics.EVICTED.inc(result.evicted_count)
        self._doorbell.ring(principal.tenant)
        self.indexer.wake()
        if wait_indexed:
            result.indexed = await self.indexer.wait_indexed(principal.tenant, result.id, deadline)
        return result

    def _put_values(self, principal: Principal, entry: WriteCacheInput) -> tuple[Any, ...]:
        context_type = str(entry.__struct_config__.tag)
        metadata = branch_fields(entry)
        text = entry_text(entry.content, context_type, metadata)
        chunks = chunk(text)
        who = entry.speaker or entry.agent_name
        occurred_at = utc(entry.occurred_at)
        return (
            principal.tenant,
            entry.mission_id,
            context_type,
            entry.content,
            metadata,
            entry.agent_name,
            entry.tags,
            entry.source_turn,
            entry.dispatch_id,
            estimate_tokens(entry.content),
            entry.ttl_hours,
            occurred_at,
            entry.session_id,
            entry.seq,
            entry.speaker,
            principal.key,
            entry.source_kind,
            entry.recalled_from,
            [scope_key(principal.tenant, f"mission:{entry.mission_id}")],
            head(who, occurred_at, *search_words(context_type, metadata, entry.tags)),
            [c.start for c in chunks],
            [c.stop for c in chunks],
            [text[c.start : c.stop] for c in chunks],
            self._embedder.model,
            self._settings.token_budget,
            self._settings.entry_budget,
            self._settings.ttl_hours,
        )

    async def query(self, principal: Principal, request: QueryCacheInput, deadline: Deadline) -> QueryResult:
        degraded: list[str] = []
        scopes = await self._scopes(principal, request.mission_id, deadline)
        vector = None
        try:
            patience = deadline.left() * _EMBED_SHARE
            vector = (await asyncio.wait_for(self._embedder.embed([request.query], "query"), patience))[0]
        except (EmbedderUnavailable, TimeoutError):
            degraded.append("embedder: searched by text only")

        async def look(c: Connection) -> tuple[list[asyncpg.Record], int, Any]:
            only = None
            if request.context_types is not None or request.tags is not None:
                only = await queries.ids_with(
                    c, principal.tenant, scopes, request.context_types, request.tags
                )
            rows = await queries.search(
                c,
                principal.tenant,
                request.query,
                None if vector is None else HalfVector(vector),
                self._embedder.model,
                DEPTH,
                scopes,
                only,
            )
            return rows, await queries.size(c, principal.tenant, scopes), await queries.now(c)

        rows, size, now = await self._database.run(look, deadline)
        result = _search_result(rows)
        by_id = {row["item_id"]: row for row in rows if row["item_id"] is not None}
        entries: list[CacheEntry] = []
        lines: list[str] = []
        left, taken = request.token_budget, set[int]()
        for scored in score(Question(request.query, self._embedder.model), [result]):
            candidate = scored.candidate
            if candidate.id in taken:
                continue
            line = render_item(
                f"{HANDLE}:{candidate.id}",
                candidate.occurred_at or candidate.created_at,
                [candidate.kind, *([who] if (who := candidate.speaker or candidate.agent) else [])],
                candidate.text,
                now,
            )
            tokens = estimate_tokens(line + "\n")
            if tokens > left:
                continue
            left -= tokens
            taken.add(candidate.id)
            lines.append(line)
            entries.append(_entry(by_id[candidate.id], relevance=round(scored.relevance, 4)))
        return QueryResult(
            context_block="\n".join(lines),
            entries=entries,
            total_tokens=request.token_budget - left,
            cache_size=size,
            degraded=degraded,
        )

    async def _scopes(self, principal: Principal, mission_id: str, deadline: Deadline) -> list[str]:
        """`*` is every mission that the key may read."""
        if mission_id != "*":
            principal.require_mission(mission_id)
            return [f"mission:{mission_id}"]
        granted = sorted(principal.missions) if principal.missions is not None else None
        missions = await self._database.run(
            lambda c: queries.mission_ids(c, principal.tenant, granted), deadline
        )
        return [f"mission:{mission}" for mission in missions]

    async def search(self, principal: Principal, request: SearchRequest, deadline: Deadline) -> SearchResult:
        scopes = request.stores.get(STORE, [])
        for scope in scopes:
            principal.require_scope(scope)
        vector = None if request.vector is None else HalfVector(decode_vector(request.vector))
        rows = await self._database.run(
            lambda c: queries.search(
                c, principal.tenant, request.query, vector, request.model, request.depth, scopes
            ),
            deadline,
        )
        return _search_result(rows)

    async def checkpoint(self, principal: Principal, session_id: str, deadline: Deadline) -> CacheEntry:
        granted = sorted(principal.missions) if principal.missions is not None else None
        row = await self._database.run(
            lambda c: queries.latest_checkpoint(c, principal.tenant, session_id, granted), deadline
        )
        if row is None:
            raise NotFound(f"no checkpoint of session {session_id!r}")
        return _entry(row)

    async def recent(self, principal: Principal, deadline: Deadline) -> list[CacheEntry]:
        granted = sorted(principal.missions) if principal.missions is not None else None
        rows = await self._database.run(lambda c: queries.recent(c, principal.tenant, granted), deadline)
        return [_entry(row) for row in rows]

    async def of_mission(self, principal: Principal, mission_id: str, deadline: Deadline) -> list[CacheEntry]:
        principal.require_mission(mission_id)
        rows = await self._database.run(
            lambda c: queries.of_mission(c, principal.tenant, mission_id), deadline
        )
        return [_entry(row) for row in rows]

    async def clear(
        self, principal: Principal, mission_id: str, reason: ClearReason, deadline: Deadline
    ) -> ClearResult:
        principal.require_mission(mission_id)
        row = await self._database.transaction(
            lambda c: queries.clear(c, principal.tenant, mission_id, reason, principal.agent), deadline
        )
        self._doorbell.ring(principal.tenant)
        return ClearResult(deleted_count=row["live"], freed_tokens=row["tokens"])

    async def stats(self, principal: Principal, mission_id: str, deadline: Deadline) -> CacheStats:
        principal.require_mission(mission_id)
        row = await self._database.run(lambda c: queries.stats(c, principal.tenant, mission_id), deadline)
        if row is None:
            raise NotFound(f"no mission {mission_id!r}")
        return CacheStats(
            mission_id=mission_id,
            total_tokens=row["tokens"],
            entry_count=row["entries"],
            token_budget=row["token_budget"] or self._settings.token_budget,
            entry_budget=row["entry_budget"] or self._settings.entry_budget,
            by_type=row["by_type"],
            written_count=row["written_count"],
            evicted_count=row["evicted_count"],
            expired_count=row["expired_count"],
            cleared_count=row["cleared_count"],
        )

    async def set_limits(
        self, principal: Principal, mission_id: str, limits: MissionLimits, deadline: Deadline
    ) -> None:
        if problem := mission_problem(mission_id):
            raise Invalid.field("mission_id", problem)
        await self._database.run(
            lambda c: queries.set_limits(
                c, principal.tenant, mission_id, limits.token_budget, limits.entry_budget, limits.ttl_hours
            ),
            deadline,
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

    async def sweep_forever(self) -> None:
        """Expired entries are gone for readers at once; the sweep frees their rows and keeps counters true."""
        while True:
            await asyncio.sleep(self._settings.sweep_minutes * 60)
            try:
                await self.sweep()
            except AppError as error:
                log.warning("sweep put off", error=error.detail)
            except Exception as error:
                log.error("sweep failed", exc_info=error)

    async def sweep(self) -> int:
        """How many missions had expired entries."""
        at = await self._database.run(queries.now, Deadline(_SWEEP_SECONDS))
        swept = 0
        while True:
            missions = await self._database.run(
                lambda c: queries.expired_missions(c, at), Deadline(_SWEEP_SECONDS)
            )
            for tenant, mission_id in missions:
                await self._database.run(
                    lambda c, t=tenant, m=mission_id: queries.expire_mission(c, t, m, at),  # type: ignore[misc]
                    Deadline(_SWEEP_SECONDS),
                )
            swept += len(missions)
            if not missions:
                return swept


def _chunks_to_embed(row: asyncpg.Record) -> list[str]:
    text = entry_text(row["content"], row["context_type"], row["metadata"])
    return [
        spoken(row["who"], text[start:stop]) for start, stop in zip(row["starts"], row["stops"], strict=True)
    ]


def _search_result(rows: Sequence[asyncpg.Record]) -> SearchResult:
    return store_result(STORE, rows, _candidate)


def _candidate(row: asyncpg.Record) -> Candidate:
    text = entry_text(row["content"], row["kind"], row["metadata"])
    return candidate_from_row(row, text[row["start"] : row["stop"]])


_ENTRY_FIELDS = [
    field for field in CacheEntry.__struct_fields__ if field not in ("relevance", "context_type", "id")
]


def _entry(row: asyncpg.Record, relevance: float | None = None) -> CacheEntry:
    found = dict(row)
    return CacheEntry(
        id=found.get("item_id") or found["id"],
        context_type=found.get("kind") or found["context_type"],
        relevance=relevance,
        **{field: found[field] for field in _ENTRY_FIELDS},
    )
