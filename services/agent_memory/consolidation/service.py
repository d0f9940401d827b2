"""Reads what runs did, and undoes them."""

from __future__ import annotations

import asyncpg

from services.agent_memory.consolidation import queries, queries_changes
from services.agent_memory.consolidation.learned import Source
from services.agent_memory.consolidation.runs import announce
from services.agent_memory.consolidation.schemas import (
    ChangeCursor,
    ConsolidationChange,
    ConsolidationChanges,
    ConsolidationRun,
    ConsolidationRuns,
    RunCursor,
    UndoneRun,
)
from services.agent_memory.consolidation.undoing import Outcome, undo
from services.agent_memory.consolidation.writing.place import Writing
from services.agent_memory.transactions import Transactions
from shared.auth import Principal
from shared.database.idempotency import Key
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.errors import Forbidden, NotFound
from shared.paging.pages import page_of
from shared.telemetry import tracing

_OF_ANOTHER = "outside of its missions and users, this key undoes only what it began"


class Consolidations:
    def __init__(self, database: Database, transactions: Transactions) -> None:
        self._database = database
        self._transactions = transactions

    async def runs(
        self,
        principal: Principal,
        session_id: str | None,
        path: str | None,
        cursor: str | None,
        limit: int,
        deadline: Deadline,
    ) -> ConsolidationRuns:
        last = RunCursor.read(cursor)
        before = None if last is None else last.id
        rows = await self._database.run(
            principal.tenant,
            lambda c: queries.runs(c, principal, session_id, path, before, limit + 1),
            deadline,
        )
        page = page_of(rows, limit, lambda row: RunCursor(id=row["id"]))
        return ConsolidationRuns([ConsolidationRun.from_row(row) for row in page.rows], page.next)

    async def run(self, principal: Principal, run_id: int, deadline: Deadline) -> ConsolidationRun:
        row = await self._database.run(principal.tenant, lambda c: _visible(c, principal, run_id), deadline)
        return ConsolidationRun.from_row(row)

    async def changes(
        self, principal: Principal, run_id: int, cursor: str | None, limit: int, deadline: Deadline
    ) -> ConsolidationChanges:
        last = ChangeCursor.read(cursor)

        async def work(c: Connection) -> list[asyncpg.Record]:
            await _visible(c, principal, run_id)
            after = 0 if last is None else last.number
            return await queries_changes.of_run(c, principal.tenant, run_id, after, limit + 1)

        rows = await self._database.run(principal.tenant, work, deadline)
        page = page_of(rows, limit, lambda row: ChangeCursor(number=row["number"]))
        return ConsolidationChanges([ConsolidationChange(**dict(row)) for row in page.rows], page.next)

    @tracing.memory("update_memory", "agent_memory")
    async def undo(self, principal: Principal, run_id: int, key: Key | None, deadline: Deadline) -> UndoneRun:
        """Undoing what is undone changes nothing. Raises NotFound, Forbidden."""
        found = await self._database.run(principal.tenant, lambda c: _visible(c, principal, run_id), deadline)
        _require_own(principal, found)

        async def work(c: Connection) -> UndoneRun:
            outcome = await _undo(c, principal, found)
            row = await _visible(c, principal, run_id)
            return UndoneRun(ConsolidationRun.from_row(row), *outcome)

        about = None if key is None else key.about([found["agent_name"]], [found["user_id"]])
        return await self._transactions.once(
            principal, found["scope"], UndoneRun, work, about, deadline, status=200
        )


async def _undo(c: Connection, principal: Principal, found: asyncpg.Record) -> Outcome:
    tenant, run_id = principal.tenant, found["id"]
    if found["session_id"] is not None:
        # Steps take the locks in this order, too.
        await queries.hold(c, tenant, found["scope"], _source(found))
        await queries.drop_unfinished(c, tenant, found["session_id"], run_id)
    run = await queries.hold_run(c, tenant, run_id)
    if run is None:
        raise NotFound(f"no run {run_id}")
    if run["undone_at"] is not None:
        return Outcome(0, 0, 0)
    outcome = await undo(c, tenant, run["scope"], run_id, principal.key)
    await queries.undone(c, tenant, run_id, principal.key)
    await announce(c, tenant, run, {"undone": run_id, **outcome._asdict()})
    return outcome


def _source(row: asyncpg.Record) -> Source:
    return Source(**{name: row[name] for name in Source.__struct_fields__})


def _require_own(principal: Principal, run: asyncpg.Record) -> None:
    """Raises Forbidden for a run over what the key may not write to."""
    Writing.of(principal, _source(run), run["scope"])
    principal.require_author(run["agent_name"])
    if principal.changes_only_its_own(run["scope"]) and run["written_by"] != principal.key:
        raise Forbidden(_OF_ANOTHER)


async def _visible(c: Connection, principal: Principal, run_id: int) -> asyncpg.Record:
    """Raises NotFound for a run that the key may not see, as for one that does not exist."""
    row = await queries.find_run(c, principal, run_id)
    if row is None:
        raise NotFound(f"no run {run_id}")
    return row
