"""What a reviewer may do with entries, and with writes of entries that wait."""

from __future__ import annotations

from typing import Any

import asyncpg
import msgspec

from services.cache.entries.puts.making import restated
from services.cache.entries.queries_write import Put
from services.cache.entries.search import STORE
from services.cache.entries.service import EntryService
from services.cache.entries.writing import EntryWriter
from services.cache.missions.queries import MissionKey
from services.cache.review import queries
from shared.auth import Principal
from shared.concurrency.threads import beside
from shared.database.postgres import Connection
from shared.deadline import Deadline
from shared.errors import Conflict, NotFound
from shared.review.deciding import Change
from shared.review.pages import page
from shared.review.reviews import About
from shared.review.schemas import Candidate, QueueRequest

_NEVER_CHANGES = (
    "the content of a stored entry never changes: forget it, or write a newer one that supersedes it"
)
_NO_OTHER = "entries are not merged: forget the one that is not needed"


class ReviewedEntries:
    def __init__(self, writer: EntryWriter, entries: EntryService) -> None:
        self._writer = writer
        self._entries = entries

    async def admit(
        self, writer: Principal, body: Any, about: About, content: str | None, deadline: Deadline
    ) -> Change:
        put = msgspec.convert(body, Put)
        if content is not None and content != put.content:
            # The other fields are read again, too.
            put = await beside(len(content) + sum(map(len, put.chunks)), restated, put, content)
        assert about.mission_id is not None
        mission = MissionKey(writer.tenant, about.mission_id)
        return lambda c: self._writer.put_reviewed(c, mission, put)

    async def join(self, writer: Principal, body: Any, about: About, into: int, deadline: Deadline) -> Change:
        raise Conflict(_NO_OTHER)

    async def about(self, c: Connection, principal: Principal, item_id: int) -> About:
        row = await self._entries.held(c, principal, item_id)
        return About(f"mission:{row['mission_id']}", row["mission_id"], row["agent_name"], row["user_id"])

    async def edit(self, principal: Principal, item_id: int, content: str, deadline: Deadline) -> Change:
        raise Conflict(_NEVER_CHANGES)

    async def merge(self, principal: Principal, item_id: int, into: int, deadline: Deadline) -> Change:
        raise Conflict(_NO_OTHER)

    async def forget(self, principal: Principal, item_id: int, deadline: Deadline) -> Change:
        async def erase(c: Connection) -> None:
            if await self._entries.erase(c, principal, item_id) is None:
                raise NotFound(f"no entry {item_id}")

        return erase

    async def queue(
        self, c: Connection, principal: Principal, request: QueueRequest
    ) -> tuple[list[Candidate], int | None]:
        if request.reason not in ("low_trust", "derived"):
            return [], None
        rows = await queries.queue(c, principal, request, request.limit + 1)
        return page(rows, request.limit, queries.LOOKED_AT, _candidate)


def _candidate(row: asyncpg.Record) -> Candidate:
    return Candidate(
        store=STORE, **{name: value for name, value in row.items() if name not in ("looked", "last")}
    )
