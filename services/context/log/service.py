"""Lists, explains and replays logged assemblies."""

from __future__ import annotations

import asyncio
from typing import Any

import asyncpg
import msgspec

from services.context import stores
from services.context.log import queries
from services.context.log.journal import Journal
from services.context.log.queries import LogFilter
from services.context.log.replay import LoggedCandidate, Replayed, replay
from services.context.log.schemas import (
    CallerCursor,
    Callers,
    Explained,
    ExplainedCandidate,
    Given,
    GivenTo,
    LogCursor,
    LogEntries,
    LogEntry,
    Replay,
    ReplayInput,
    Synthesized,
)
from shared.auth import Principal
from shared.database.postgres import Database
from shared.deadline import Deadline
from shared.errors import NotFound
from shared.paging.pages import page_of


class AssemblyLog:
    def __init__(self, database: Database, journal: Journal) -> None:
        self._database = database
        self._journal = journal

    async def assemblies(
        self,
        principal: Principal,
        wanted: LogFilter,
        cursor: str | None,
        limit: int,
        deadline: Deadline,
    ) -> LogEntries:
        """Newest first. A key bound to an agent, missions or users sees only their assemblies."""
        before = LogCursor.read(cursor)
        rows = await self._database.run(
            principal.tenant,
            lambda c: queries.list_assemblies(c, principal, wanted, before=before, limit=limit + 1),
            deadline,
        )
        page = page_of(rows, limit, lambda row: LogCursor(created_at=row["created_at"], id=row["id"]))
        return LogEntries([msgspec.convert(dict(row), LogEntry) for row in page.rows], page.next)

    async def given(
        self,
        principal: Principal,
        handle: str,
        wanted: LogFilter,
        cursor: str | None,
        limit: int,
        deadline: Deadline,
    ) -> Given:
        """The readable assemblies that gave an item, newest first. Raises NotFound for what is no handle."""
        handles = stores.handles_of(handle)
        if not handles:
            raise NotFound(f"no source {handle!r}")
        before = LogCursor.read(cursor)
        rows = await self._database.run(
            principal.tenant,
            lambda c: queries.given(c, principal, handles, wanted, before=before, limit=limit + 1),
            deadline,
        )
        found = [row for row in rows if row["assembly_id"] is not None]
        items = [GivenTo(**{name: row[name] for name in GivenTo.__struct_fields__}) for row in found[:limit]]
        if len(found) > limit:
            return Given(items, LogCursor(items[-1].created_at, items[-1].assembly_id).text())
        if rows[0]["looked"] < queries.GIVEN_LOOKED_AT:
            return Given(items, None)
        return Given(items, LogCursor(rows[0]["last_at"], rows[0]["last_id"]).text())

    async def callers(
        self, principal: Principal, cursor: str | None, limit: int, deadline: Deadline
    ) -> Callers:
        position = CallerCursor.read(cursor)
        after = None if position is None else position.caller
        names = await self._database.run(
            principal.tenant, lambda c: queries.callers(c, principal, after=after, limit=limit + 1), deadline
        )
        page = page_of(names, limit, lambda name: CallerCursor(caller=name))
        return Callers(list(page.rows), page.next)

    async def require(self, principal: Principal, assembly_id: int, deadline: Deadline) -> None:
        """Raises NotFound for an assembly that the principal cannot read."""
        await self._journal.find(
            lambda: self._database.run(
                principal.tenant, lambda c: queries.readable(c, principal, assembly_id), deadline
            ),
            assembly_id,
            deadline,
        )

    async def explain(self, principal: Principal, assembly_id: int, deadline: Deadline) -> Explained:
        row = await self._find(principal, assembly_id, deadline)
        logged = msgspec.convert(row["candidates"], list[LoggedCandidate])
        below = [
            ExplainedCandidate(handle, stores.name_of(handle), "floor", 0) for handle in row["below_floor"]
        ]
        entry = {key: value for key, value in row.items() if key not in ("candidates", "below_floor")}
        candidates = [*map(_explained, logged), *below]
        return msgspec.convert({**entry, "candidates": candidates}, Explained, from_attributes=True)

    async def replay(
        self, principal: Principal, assembly_id: int, changes: ReplayInput, deadline: Deadline
    ) -> Replay:
        """Packs a logged assembly again, with other weights, shares or another budget.

        Without a change, it returns what the log says.
        """
        row = await self._find(principal, assembly_id, deadline)
        logged = msgspec.convert(row["candidates"], list[LoggedCandidate])
        tokens = changes.token_budget or row["token_budget"]
        shares: dict[str, float] = {**row["token_shares"], **dict(changes.token_shares.items())}
        weights: dict[str, float] = dict(changes.weights.items())
        same = all(weights.get(candidate.store, candidate.weight) == candidate.weight for candidate in logged)
        if same and (tokens, shares) == (row["token_budget"], row["token_shares"]):
            replayed = Replayed(logged, row["total_tokens"])
        else:
            replayed = await asyncio.to_thread(replay, logged, tokens, shares, weights)
        before = {candidate.handle for candidate in logged if candidate.taken}
        after = {candidate.handle for candidate in replayed.candidates if candidate.taken}
        return Replay(
            assembly_id=assembly_id,
            token_budget=tokens,
            total_tokens=replayed.total_tokens,
            added=sorted(after - before),
            removed=sorted(before - after),
            candidates=list(map(_explained, replayed.candidates)),
            synthesis=msgspec.convert(row["synthesis"], Synthesized) if row["synthesis"] else msgspec.UNSET,
        )

    async def _find(self, principal: Principal, assembly_id: int, deadline: Deadline) -> asyncpg.Record:
        return await self._journal.find(
            lambda: self._database.run(
                principal.tenant, lambda c: queries.find(c, principal, assembly_id), deadline
            ),
            assembly_id,
            deadline,
        )


def _explained(candidate: LoggedCandidate) -> ExplainedCandidate:
    values: dict[str, Any] = msgspec.structs.asdict(candidate)
    return ExplainedCandidate(store=candidate.store, **values)
