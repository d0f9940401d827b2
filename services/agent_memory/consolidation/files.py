"""Learns from files of the vault, each as it is now. One that did not change is skipped."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import NamedTuple

import asyncpg

from services.agent_memory.consolidation import queries, queries_changes, queries_files
from services.agent_memory.consolidation.changes import Tally, tally
from services.agent_memory.consolidation.extraction.rules import MOST_FACTS
from services.agent_memory.consolidation.learned import Learner, Source, Turn
from services.agent_memory.consolidation.runs import LEARNING, Lasting, announce
from services.agent_memory.consolidation.schemas import FileInput, LearnedFile
from services.agent_memory.consolidation.writing.place import Writing
from services.agent_memory.consolidation.writing.vanishing import end_vanished
from services.agent_memory.facts.schemas import is_scope
from services.agent_memory.transactions import Transactions
from services.agent_memory.vault.folders import SHARED, UNBOUND, require_folder, user_of
from services.agent_memory.vault.queries import passages
from shared.auth import Principal
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.errors import Conflict, Invalid, NotFound
from shared.review.reviews import require_unreviewed
from shared.telemetry import tracing

_MOST_PASSAGES, _LAST_LINE = 2_000, 2**31 - 1
TOO_LONG = "the end of a long file"
_NOBODYS = "is required: the file lies in no folder of an agent, a mission or a user, and not in shared/"
_SOMEBODYS = "differs from the scope of the folder: what the file teaches lies with whose folder it is in"
_CHANGED = "the file was changed meanwhile: send it again"


class _File(NamedTuple):
    path: str
    scope: str
    digest: bytes
    lines: int
    turns: list[Turn]

    @property
    def skipped(self) -> dict[str, int]:
        return {TOO_LONG: 1} if len(self.turns) == _MOST_PASSAGES else {}


class Files:
    """`steady`: the same file teaches the same, so that what it no longer teaches is no longer in it."""

    def __init__(
        self,
        database: Database,
        transactions: Transactions,
        model: str,
        learner: Learner,
        *,
        steady: bool = True,
    ) -> None:
        self._steady = steady
        self._database = database
        self._transactions = transactions
        self._model = model
        self._learner = learner

    @tracing.memory("upsert_memory", "agent_memory")
    async def learn(self, principal: Principal, request: FileInput, deadline: Deadline) -> LearnedFile:
        """Raises NotFound, Forbidden, Invalid, and Conflict for a file that changes at the same time, or in whose scope
        writes wait for a reviewer."""
        file = await self._database.run(
            principal.tenant, lambda c: _read(c, principal, request.path), deadline
        )
        require_folder(principal, file.scope)
        scope = _scope_of(file, request.scope)
        source = Source(agent_name=principal.agent, user_id=user_of(scope), path=file.path)
        writing = Writing.of(principal, source, scope)
        seconds = LEARNING * deadline.left()
        learned = await self._learner(principal.tenant, file.turns, source, seconds)
        lasting = Lasting(writing, learned)
        await lasting.prepare()

        async def work(c: Connection) -> LearnedFile:
            await require_unreviewed(c, principal, writing.about)
            known = await queries_files.learned(c, principal.tenant, file.path)
            now = await queries_files.find(c, principal.tenant, file.path, principal.own_scopes())
            if now is None or _digest(now) != file.digest:
                raise Conflict(_CHANGED)
            if known is not None and not request.from_start and _is_same(known, file, scope):
                return LearnedFile("nothing_new", known["run_id"], file.lines, Tally())
            ends = self._steady and not file.skipped and len(learned.facts) < MOST_FACTS
            return await _record(c, writing, file, lasting, self._model, ends=ends)

        return await self._transactions.run(principal.tenant, work, deadline)


async def _record(
    c: Connection, writing: Writing, file: _File, lasting: Lasting, model: str, *, ends: bool
) -> LearnedFile:
    """`ends`: what the file no longer says is no longer believed."""
    tenant, scope = writing.tenant, writing.place.scope
    run_id = await queries.add_run(c, writing.principal, scope, writing.source, 0, file.lines)
    changes = await lasting.write(c, model)
    await queries_changes.add(c, tenant, run_id, changes)
    if ends:
        ended = await end_vanished(c, writing, file.path, run_id)
        await queries_changes.add(c, tenant, run_id, ended)
        changes += ended
    counts = tally(changes, Tally())
    await queries.advance(c, tenant, run_id, file.lines, counts, file.skipped, finished=True)
    await queries_files.note(
        c,
        tenant,
        file.path,
        scope=scope,
        user_id=writing.place.user_id,
        digest=file.digest,
        run_id=run_id,
    )
    run = await queries.hold_run(c, tenant, run_id)
    assert run is not None
    await announce(c, tenant, run, {"run": run_id, "opened": counts.opened, "closed": counts.closed})
    return LearnedFile("finished", run_id, file.lines, counts)


async def _read(c: Connection, principal: Principal, path: str) -> _File:
    scopes = principal.own_scopes()
    row = await queries_files.find(c, principal.tenant, path, scopes)
    if row is None:
        raise NotFound(f"no file {path!r}")
    rows = await passages(c, principal.tenant, path, scopes, first=1, last=_LAST_LINE, limit=_MOST_PASSAGES)
    return _File(path, row["scope"], _digest(row), row["lines"], _turns(row, rows))


def _scope_of(file: _File, wanted: str | None) -> str:
    """Where what it teaches lies. Raises Invalid."""
    # A purge of an agent, a mission or a user finds what their files taught in their scope only.
    if file.scope not in (SHARED, UNBOUND) and wanted not in (None, file.scope):
        raise Invalid.field("scope", _SOMEBODYS)
    scope = wanted or file.scope
    if not is_scope(scope):
        raise Invalid.field("scope", _NOBODYS)
    return scope


def _turns(row: asyncpg.Record, rows: Sequence[asyncpg.Record]) -> list[Turn]:
    """One for each passage, at its first line."""
    return [
        Turn(
            position=each["first_line"],
            role="document",
            author=None,
            text=each["body"],
            at=row["changed_at"],
            trust="document",
        )
        for each in rows
    ]


def _digest(row: asyncpg.Record) -> bytes:
    return hashlib.sha256(row["hash"]).digest()


def _is_same(known: asyncpg.Record, file: _File, scope: str) -> bool:
    return bool(known["hash"] == file.digest and known["scope"] == scope)
