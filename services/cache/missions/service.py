"""The rules of the cache service: missions and their entries."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from collections.abc import Sequence
from typing import Any

import asyncpg
import msgspec
import structlog

from services.cache.dispatches.service import DispatchService
from services.cache.missions import queries, queries_purge
from services.cache.missions.coalescing import Coalescer
from services.cache.missions.entries import branch_fields, entry_of, entry_text, search_words
from services.cache.missions.query_log import QueryLog
from services.cache.missions.schemas import (
    BatchInput,
    BatchItem,
    BatchResult,
    CacheEntry,
    CacheStats,
    ClearReason,
    ClearResult,
    DeleteResult,
    Mission,
    MissionLimits,
    MissionsAnswer,
    StoredTurn,
    StoredTurns,
    TurnsInput,
    WriteCacheInput,
    WriteResult,
)
from services.cache.missions.search import STORE, CacheSearch
from services.cache.settings import Settings
from shared.auth import Principal
from shared.body import decode
from shared.database.doorbell import Doorbell
from shared.database.idempotency import Key, Records
from shared.database.indexer import Indexer, IndexStatements
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.embeddings import Embedder
from shared.errors import AppError, Conflict, Invalid, NotFound, Unprocessable
from shared.provenance import head, spoken, utc
from shared.search.chunking import chunk
from shared.search.sql import scope_key
from shared.telemetry import metrics, tracing
from shared.text import mission_problem
from shared.tokens import estimate_tokens

log = structlog.get_logger()

_SWEEP_SECONDS = 30.0

_DECODER = msgspec.json.Decoder(WriteCacheInput)
_Mission = tuple[str, str]
_Put = tuple[dict[str, Any], int]
_Outcome = WriteResult | AppError


class _Kept(msgspec.Struct):
    """A batch's outcomes for one mission, as an idempotency record keeps them."""

    items: list[BatchItem]


class CacheService:
    def __init__(
        self, settings: Settings, database: Database, embedder: Embedder, doorbell: Doorbell
    ) -> None:
        self._settings = settings
        self._limits = queries.Limits(settings.token_budget, settings.entry_budget, settings.ttl_hours)
        self._database = database
        self._embedder = embedder
        self._doorbell = doorbell
        self._puts: Coalescer[_Mission, _Put, _Outcome] = Coalescer(self._put_unkeyed)
        self.records = Records("cache")
        self.query_log = QueryLog(database, doorbell)
        self.search = CacheSearch(database, embedder, self.query_log)
        self.dispatches = DispatchService(settings, database, doorbell, self.records)
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

    def start(self) -> None:
        self.indexer.start()
        self.query_log.start()

    async def stop(self) -> None:
        await self._puts.stop()
        await self.indexer.stop()
        await self.query_log.stop()

    @tracing.memory("create_memory", "cache")
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
        self._check(principal, entry)
        mission = (principal.tenant, entry.mission_id)
        put = self._put(principal, entry)
        if key is None:
            outcome = await self._puts.put(mission, put, deadline)
        else:
            outcome = await self._put_once(mission, put, key, deadline)
        if isinstance(outcome, AppError):
            raise outcome
        self._written(principal.tenant)
        if wait_indexed:
            outcome.indexed = await self.indexer.wait_indexed(principal.tenant, outcome.id, deadline)
        return outcome

    @tracing.memory("create_memory", "cache")
    async def write_batch(
        self, principal: Principal, batch: BatchInput, key: Key | None, deadline: Deadline
    ) -> BatchResult:
        """Each entry as if written alone, in order within its mission."""
        items: list[BatchItem | None] = [None] * len(batch.entries)
        puts: dict[str, list[tuple[int, _Put]]] = {}
        for place, raw in enumerate(batch.entries):
            try:
                entry = decode(bytes(raw), _DECODER)
                self._check(principal, entry)
                puts.setdefault(entry.mission_id, []).append((place, self._put(principal, entry)))
            except AppError as error:
                items[place] = _failed(error)

        async def one_mission(mission_id: str, placed: list[tuple[int, _Put]]) -> None:
            made = await self._put_all((principal.tenant, mission_id), [p for _, p in placed], key, deadline)
            for (place, _), item in zip(placed, made, strict=True):
                items[place] = item

        await asyncio.gather(*(one_mission(mission, placed) for mission, placed in puts.items()))
        done = [item for item in items if item is not None]
        self._written(principal.tenant)
        return BatchResult(entries=done, written=sum(item.data is not None for item in done))

    def _check(self, principal: Principal, entry: WriteCacheInput) -> None:
        principal.require_mission(entry.mission_id)
        principal.require_agent(entry.agent_name)
        principal.require_user(entry.user_id)
        self._check_tags(entry.tags)

    def _check_tags(self, tags: Sequence[str]) -> None:
        known = self._settings.tags
        if known is not None and (strange := [tag for tag in tags if tag not in known]):
            raise Invalid.field("tags", f"{strange[0]!r} is not one of {', '.join(sorted(known))}")

    def _written(self, tenant: str) -> None:
        self._doorbell.ring(tenant)
        self.indexer.wake()

    async def _put_all(
        self, mission: _Mission, puts: Sequence[_Put], key: Key | None, deadline: Deadline
    ) -> list[BatchItem]:
        """With a key, one transaction and one record a mission: what a broken-off batch lacks, its retry adds."""
        if key is None:
            outcomes = await asyncio.gather(
                *(self._puts.put(mission, put, deadline) for put in puts), return_exceptions=True
            )
            return [_item(outcome) for outcome in outcomes]
        tenant, mission_id = mission
        own = Key(
            f"{key.value} {hashlib.sha256(mission_id.encode()).hexdigest()[:32]}", key.route, key.body_hash
        )

        async def put(connection: Connection) -> _Kept:
            return _Kept([_item(outcome) for outcome in await self._put_rows(connection, mission, puts)])

        try:
            kept = await self._database.transaction(
                lambda c: self.records.once(
                    c, tenant, f"mission:{mission_id}", own, _Kept, lambda: put(c), 200
                ),
                deadline,
            )
        except AppError as error:
            return [_failed(error)] * len(puts)
        return kept.items

    async def _put_once(self, mission: _Mission, put: _Put, key: Key, deadline: Deadline) -> WriteResult:
        tenant, mission_id = mission

        async def write(connection: Connection) -> WriteResult:
            (outcome,) = await self._put_rows(connection, mission, [put])
            if isinstance(outcome, AppError):
                raise outcome
            return outcome

        return await self._database.transaction(
            lambda c: self.records.once(
                c, tenant, f"mission:{mission_id}", key, WriteResult, lambda: write(c)
            ),
            deadline,
        )

    async def _put_unkeyed(
        self, mission: _Mission, puts: Sequence[_Put], deadline: Deadline
    ) -> list[_Outcome]:
        return await self._database.run(lambda c: self._put_rows(c, mission, puts), deadline)

    async def _put_rows(
        self, connection: Connection, mission: _Mission, puts: Sequence[_Put]
    ) -> list[_Outcome]:
        entries, tokens = [entry for entry, _ in puts], [size for _, size in puts]
        rows = await queries.put_entries(
            connection, *mission, entries, tokens, self._embedder.model, self._limits
        )
        metrics.EVICTED.inc(sum(row["evicted"] for row in rows))
        return [_outcome(row, size) for row, size in zip(rows, tokens, strict=True)]

    def _put(self, principal: Principal, entry: WriteCacheInput) -> _Put:
        """The entry as `cache.put_entries` takes it, and its size in tokens."""
        context_type = str(entry.__struct_config__.tag)
        metadata = branch_fields(entry)
        text = entry_text(entry.content, context_type, metadata)
        chunks = chunk(text)
        agent = entry.agent_name or principal.agent
        occurred_at = utc(entry.occurred_at)
        return {
            "context_type": context_type,
            "content": entry.content,
            "metadata": metadata,
            "agent_name": agent,
            "tags": entry.tags,
            "source_turn": entry.source_turn,
            "dispatch_id": entry.dispatch_id,
            "occurred_at": occurred_at,
            "session_id": entry.session_id,
            "seq": entry.seq,
            "speaker": entry.speaker,
            "user_id": entry.user_id,
            "written_by": principal.key,
            "source_kind": entry.source_kind,
            "recalled_from": entry.recalled_from,
            "ttl_hours": entry.ttl_hours,
            "head": head(
                entry.speaker or agent, occurred_at, *search_words(context_type, metadata, entry.tags)
            ),
            "starts": [c.start for c in chunks],
            "stops": [c.stop for c in chunks],
            "chunks": [text[c.start : c.stop] for c in chunks],
        }, estimate_tokens(entry.content)

    async def checkpoint(self, principal: Principal, session_id: str, deadline: Deadline) -> CacheEntry:
        row = await self._database.run(
            lambda c: queries.latest_checkpoint(
                c, principal.tenant, session_id, principal.seen_missions(), principal.seen_users()
            ),
            deadline,
        )
        if row is None:
            raise NotFound(f"no checkpoint of session {session_id!r}")
        return entry_of(row)

    async def recent(self, principal: Principal, deadline: Deadline) -> list[CacheEntry]:
        rows = await self._database.run(
            lambda c: queries.recent(c, principal.tenant, principal.seen_missions(), principal.seen_users()),
            deadline,
        )
        return [entry_of(row) for row in rows]

    async def of_mission(self, principal: Principal, mission_id: str, deadline: Deadline) -> list[CacheEntry]:
        principal.require_mission(mission_id)
        rows = await self._database.run(
            lambda c: queries.of_mission(c, principal.tenant, mission_id, principal.seen_users()), deadline
        )
        return [entry_of(row) for row in rows]

    async def stored_turns(
        self, principal: Principal, request: TurnsInput, deadline: Deadline
    ) -> StoredTurns:
        principal.require_mission(request.mission_id)
        principal.require_user(request.user_id)
        rows = await self._database.run(
            lambda c: queries.stored_turns(
                c,
                principal.tenant,
                mission_id=request.mission_id,
                session_id=request.session_id,
                user_id=request.user_id,
                turns=msgspec.to_builtins(request.turns),
            ),
            deadline,
        )
        return StoredTurns([StoredTurn(**row) for row in rows])

    async def entry(self, principal: Principal, entry_id: int, deadline: Deadline) -> CacheEntry:
        return entry_of(await self._row(principal, entry_id, deadline))

    @tracing.memory("update_memory", "cache")
    async def set_tags(
        self, principal: Principal, entry_id: int, tags: list[str], deadline: Deadline
    ) -> CacheEntry:
        self._check_tags(tags)
        row = await self._row(principal, entry_id, deadline)
        principal.require_agent(row["agent_name"])
        words = search_words(row["context_type"], row["metadata"], tags)
        new_head = head(row["speaker"] or row["agent_name"], row["occurred_at"], *words)
        key = scope_key(principal.tenant, f"mission:{row['mission_id']}")

        async def edit(connection: Connection) -> bool:
            await queries.lock_mission(connection, principal.tenant, row["mission_id"])
            return await queries.set_tags(
                connection, principal.tenant, entry_id, tags, new_head, key, principal.agent
            )

        if not await self._database.transaction(edit, deadline):
            raise NotFound(f"no entry {entry_id}")
        self._doorbell.ring(principal.tenant)
        return await self.entry(principal, entry_id, deadline)

    @tracing.memory("delete_memory", "cache")
    async def delete(self, principal: Principal, entry_id: int, deadline: Deadline) -> DeleteResult:
        row = await self._row(principal, entry_id, deadline)
        principal.require_agent(row["agent_name"])

        async def erase(connection: Connection) -> int | None:
            await queries.lock_mission(connection, principal.tenant, row["mission_id"])
            return await queries.delete_entry(connection, principal.tenant, entry_id, principal.agent)

        freed = await self._database.transaction(erase, deadline)
        if freed is None:
            raise NotFound(f"no entry {entry_id}")
        self._doorbell.ring(principal.tenant)
        return DeleteResult(deleted_count=1, freed_tokens=freed)

    async def _row(self, principal: Principal, entry_id: int, deadline: Deadline) -> asyncpg.Record:
        """An entry of a mission or about a user that the key has no grant for is not there."""
        row = await self._database.run(
            lambda c: queries.by_id(
                c, principal.tenant, entry_id, principal.seen_missions(), principal.seen_users()
            ),
            deadline,
        )
        if row is None:
            raise NotFound(f"no entry {entry_id}")
        return row

    async def missions(
        self, principal: Principal, after: str | None, limit: int, deadline: Deadline
    ) -> MissionsAnswer:
        rows = await self._database.run(
            lambda c: queries.missions(c, principal.tenant, principal.seen_missions(), after, limit), deadline
        )
        found = [
            Mission(
                mission_id=row["mission_id"],
                total_tokens=row["tokens"],
                entry_count=row["entries"],
                token_budget=row["token_budget"] or self._limits.token_budget,
                entry_budget=row["entry_budget"] or self._limits.entry_budget,
                written_count=row["written_count"],
                evicted_count=row["evicted_count"],
                created_at=row["created_at"],
                last_write_at=row["last_write_at"],
            )
            for row in rows
        ]
        return MissionsAnswer(found, found[-1].mission_id if len(found) == limit else None)

    @tracing.memory("delete_memory", "cache")
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
        row = await self._database.run(
            lambda c: queries.stats(c, principal.tenant, mission_id, self._embedder.model), deadline
        )
        if row is None:
            raise NotFound(f"no mission {mission_id!r}")
        return CacheStats(
            mission_id=mission_id,
            total_tokens=row["tokens"],
            entry_count=row["entries"],
            token_budget=row["token_budget"] or self._limits.token_budget,
            entry_budget=row["entry_budget"] or self._limits.entry_budget,
            ttl_hours=row["ttl_hours"] or self._limits.ttl_hours,
            by_type=row["by_type"],
            tokens_by_type=row["tokens_by_type"],
            by_agent=row["by_agent"],
            unindexed_count=row["waiting"],
            created_at=row["created_at"],
            last_write_at=row["last_write_at"],
            oldest_at=row["oldest_at"],
            newest_at=row["newest_at"],
            next_expiry=row["next_expiry"],
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
        principal.require_mission(mission_id)
        await self._database.transaction(
            lambda c: queries.set_limits(
                c,
                principal.tenant,
                mission_id,
                limits.token_budget,
                limits.entry_budget,
                limits.ttl_hours,
                self._limits,
            ),
            deadline,
        )

    @tracing.memory("delete_memory", "cache")
    async def purge(
        self, principal: Principal, scope: str, agent: str | None, user_id: str | None, deadline: Deadline
    ) -> dict[str, int]:
        """Every row of the scope, and in any mission what the agent wrote or is about the user; counts per table."""
        # Events of queries that were answered must not come after the purge of events.
        await self.query_log.flush()

        async def erase(connection: Connection) -> dict[str, int]:
            counts: Counter[str] = Counter()
            for table, statement in queries_purge.PURGE:
                counts[table] += await connection.fetchval(statement, principal.tenant, scope)
            if agent is not None:
                counts.update(await queries_purge.purge_agent(connection, principal.tenant, agent))
            if user_id is not None:
                counts.update(await queries_purge.purge_user(connection, principal.tenant, user_id))
            return dict(counts)

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


def _outcome(row: asyncpg.Record, tokens: int) -> _Outcome:
    if row["refused"] == "larger":
        message = f"an entry of {tokens} tokens cannot fit a budget of {row['token_budget']}"
        return Unprocessable(message, errors=[{"field": "content", "message": message}])
    if row["refused"] is not None:
        return Conflict("only the newest checkpoints are left, and the entry does not fit beside them")
    return WriteResult(
        id=row["entry_id"],
        token_count=tokens,
        cache_total_tokens=row["total_tokens"],
        evicted_count=row["evicted"],
    )


def _item(outcome: _Outcome | BaseException) -> BatchItem:
    if isinstance(outcome, AppError):
        return _failed(outcome)
    if isinstance(outcome, BaseException):
        raise outcome
    return BatchItem(201, data=outcome)


def _failed(error: AppError) -> BatchItem:
    return BatchItem(error.status, error=error.problem())
