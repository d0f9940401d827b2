"""The rules of stored entries: who may read, edit and delete them."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import asyncpg
import msgspec

from services.cache.entries import queries
from services.cache.entries.entry import CacheEntry
from services.cache.entries.queries import EntryFilter
from services.cache.entries.schemas import (
    DeleteResult,
    EntriesAnswer,
    EntryCursor,
    StoredTurn,
    StoredTurns,
    TurnsInput,
)
from services.cache.entries.text import entry_tokens, search_words
from services.cache.entries.writing import require_tags
from services.cache.missions.queries import DefaultLimits, MissionKey, lock_mission, shrink_mission
from shared.auth import Principal
from shared.database.doorbell import Doorbell
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.errors import Conflict, NotFound
from shared.paging.pages import page_of
from shared.provenance import head
from shared.review.reviews import About, require_unreviewed
from shared.telemetry import metrics, tracing


class EntryService:
    def __init__(
        self,
        database: Database,
        doorbell: Doorbell,
        *,
        limits: DefaultLimits,
        tags: Collection[str] | None,
    ) -> None:
        """`tags` are the allowed tags; None allows any."""
        self._database = database
        self._doorbell = doorbell
        self._limits = limits
        self._tags = tags

    async def get(self, principal: Principal, entry_id: int, deadline: Deadline) -> CacheEntry:
        return CacheEntry.from_row(await self._row(principal, entry_id, deadline))

    async def checkpoint(
        self,
        principal: Principal,
        session_id: str,
        deadline: Deadline,
        *,
        mission_id: str | None = None,
        agent_name: str | None = None,
    ) -> CacheEntry:
        """The newest of the named mission and agent. A key bound to an agent reads that agent's."""
        if mission_id is not None:
            principal.require_mission(mission_id)
        principal.require_agent(agent_name)
        row = await self._database.run(
            principal.tenant,
            lambda c: queries.latest_checkpoint(c, principal, session_id, mission_id, agent_name),
            deadline,
        )
        if row is None:
            raise NotFound(f"no checkpoint of session {session_id!r}")
        return CacheEntry.from_row(row)

    async def of_all_missions(
        self, principal: Principal, wanted: EntryFilter, cursor: str | None, limit: int, deadline: Deadline
    ) -> EntriesAnswer:
        before = _id_in(cursor)
        rows = await self._database.run(
            principal.tenant,
            lambda c: queries.of_all_missions(c, principal, wanted, before=before, limit=limit + 1),
            deadline,
        )
        return _page(rows, limit)

    async def of_mission(
        self,
        principal: Principal,
        mission_id: str,
        wanted: EntryFilter,
        cursor: str | None,
        limit: int,
        deadline: Deadline,
    ) -> EntriesAnswer:
        principal.require_mission(mission_id)
        before = _id_in(cursor)
        rows = await self._database.run(
            principal.tenant,
            lambda c: queries.of_mission(c, principal, mission_id, wanted, before=before, limit=limit + 1),
            deadline,
        )
        return _page(rows, limit)

    async def stored_turns(
        self, principal: Principal, request: TurnsInput, deadline: Deadline
    ) -> StoredTurns:
        principal.require_mission(request.mission_id)
        principal.require_user(request.user_id)
        rows = await self._database.run(
            principal.tenant,
            lambda c: queries.stored_turns(
                c,
                MissionKey(principal.tenant, request.mission_id),
                session_id=request.session_id,
                user_id=request.user_id,
                agent_name=principal.agent,
                turns=msgspec.to_builtins(request.turns),
            ),
            deadline,
        )
        return StoredTurns([StoredTurn(**row) for row in rows])

    @tracing.memory("update_memory", "cache")
    async def set_tags(
        self, principal: Principal, entry_id: int, tags: list[str], deadline: Deadline
    ) -> CacheEntry:
        """Tags count as tokens, so longer ones may evict older entries. Raises Conflict if that frees too little."""
        require_tags(tags, self._tags)
        row = await self._own_row(principal, entry_id, deadline)
        edited = await self._database.transaction(
            principal.tenant, lambda c: self._replace_tags(c, principal, row, tags), deadline
        )
        if not edited:
            raise NotFound(f"no entry {entry_id}")
        self._doorbell.ring(principal.tenant)
        return await self.get(principal, entry_id, deadline)

    async def _replace_tags(
        self, c: Connection, principal: Principal, row: asyncpg.Record, tags: list[str]
    ) -> bool:
        mission = MissionKey(principal.tenant, row["mission_id"])
        words = search_words(row["context_type"], row["metadata"], tags, [*row["paths"], *row["symbols"]])
        tokens = entry_tokens({**row, "tags": tags})
        await require_unreviewed(c, principal, About(mission.scope, mission.mission_id, row["agent_name"]))
        await lock_mission(c, mission)
        before = await queries.set_tags(
            c,
            mission,
            row["id"],
            tags=tags,
            head=head(row["speaker"] or row["agent_name"], row["occurred_at"], *words),
            token_count=tokens,
            agent=principal.agent,
        )
        if before is not None and tokens > before:
            await self._make_room(c, mission, row["id"])
        return before is not None

    async def _make_room(self, c: Connection, mission: MissionKey, entry_id: int) -> None:
        if await queries.fits(c, mission, entry_id, self._limits.token_budget):
            return
        evicted = await shrink_mission(c, mission, self._limits)
        if not await queries.fits(c, mission, entry_id, self._limits.token_budget):
            raise Conflict("with these tags the entry does not fit the mission's budget")
        metrics.EVICTED.inc(evicted)

    @tracing.memory("delete_memory", "cache")
    async def delete(self, principal: Principal, entry_id: int, deadline: Deadline) -> DeleteResult:
        freed_tokens = await self._database.transaction(
            principal.tenant, lambda c: self.erase(c, principal, entry_id), deadline
        )
        if freed_tokens is None:
            raise NotFound(f"no entry {entry_id}")
        self._doorbell.ring(principal.tenant)
        return DeleteResult(deleted_count=1, freed_tokens=freed_tokens)

    async def erase(self, c: Connection, principal: Principal, entry_id: int) -> int | None:
        """The freed tokens, or None for an entry that went meanwhile. Call it in a transaction."""
        row = await self.held(c, principal, entry_id)
        await lock_mission(c, MissionKey(principal.tenant, row["mission_id"]))
        return await queries.delete_entry(c, principal.tenant, entry_id, principal.agent)

    async def held(self, c: Connection, principal: Principal, entry_id: int) -> asyncpg.Record:
        """The row of an entry that the principal may change. Raises NotFound or Forbidden."""
        row = await queries.by_id(c, principal, entry_id)
        if row is None:
            raise NotFound(f"no entry {entry_id}")
        principal.require_author(row["agent_name"])
        return row

    async def _own_row(self, principal: Principal, entry_id: int, deadline: Deadline) -> asyncpg.Record:
        """The row of an entry that the principal may change. Raises NotFound or Forbidden."""
        return await self._database.run(
            principal.tenant, lambda c: self.held(c, principal, entry_id), deadline
        )

    async def _row(self, principal: Principal, entry_id: int, deadline: Deadline) -> asyncpg.Record:
        """Raises NotFound for an entry of a mission, or about a user, that the key has no grant for."""
        row = await self._database.run(
            principal.tenant, lambda c: queries.by_id(c, principal, entry_id), deadline
        )
        if row is None:
            raise NotFound(f"no entry {entry_id}")
        return row


def _id_in(cursor: str | None) -> int | None:
    position = EntryCursor.read(cursor)
    return None if position is None else position.id


def _page(rows: Sequence[asyncpg.Record], limit: int) -> EntriesAnswer:
    page = page_of(rows, limit, lambda row: EntryCursor(id=row["id"]))
    return EntriesAnswer([CacheEntry.from_row(row) for row in page.rows], page.next)
