"""Runs over sessions, step by step. Each step is one transaction: what was learned, and how far the run is.

A run that is broken off anywhere goes on behind its last step, with the same steps. One holder at a time runs over a
session.
"""

from __future__ import annotations

import asyncpg
import msgspec

from services.agent_memory.consolidation import queries, queries_changes
from services.agent_memory.consolidation.changes import Change, Tally, added, tally
from services.agent_memory.consolidation.learned import Learned, Learner, Source
from services.agent_memory.consolidation.schemas import (
    BeginInput,
    Begun,
    ReleaseInput,
    StepInput,
    Stepped,
)
from services.agent_memory.consolidation.writing.naming import name
from services.agent_memory.consolidation.writing.place import Writing
from services.agent_memory.consolidation.writing.remembering import commitments, episodes
from services.agent_memory.consolidation.writing.stating import state
from services.agent_memory.facts.writes.queries import add_event, lock_scopes
from services.agent_memory.transactions import Transactions
from shared.auth import Principal
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.errors import Invalid
from shared.review.reviews import require_unreviewed
from shared.spending import Payer, charged_to, payer_of
from shared.telemetry import tracing

EVENT = "consolidation"
LEARNING = 0.6
"""The share of a step's time."""


class Runs:
    def __init__(self, database: Database, transactions: Transactions, model: str, learner: Learner) -> None:
        self._database = database
        self._transactions = transactions
        self._model = model
        self._learner = learner

    async def begin(self, principal: Principal, request: BeginInput, deadline: Deadline) -> Begun:
        """Begins a run, or goes on with one that was broken off. Raises Forbidden, and Conflict for a session of whom
        writes wait for a reviewer."""
        writing, session = Writing.of(principal, request.source), _session(request.source)

        async def work(c: Connection) -> Begun:
            await require_unreviewed(c, principal, writing.about)
            held = await queries.hold(c, principal.tenant, writing.place.scope, request.source)
            tenant, position, run_id = principal.tenant, held["position"], held["run_id"]
            if held["leased"] and held["holder"] != request.holder:
                return Begun("under_way", position, request.last, run_id)
            through = (
                None
                if run_id is None
                else await queries.go_on(c, tenant, run_id, from_start=request.from_start)
            )
            if through is None:
                position, through = 0 if request.from_start else position, request.last
                if through <= position:
                    return Begun("nothing_new", position, through)
                run_id = await queries.add_run(
                    c, principal, writing.place.scope, request.source, position, through
                )
            await queries.lease(c, tenant, session, position, run_id, request.holder)
            stops = await queries.stops(c, tenant, session, position, through)
            return Begun("begun", position, through, run_id, stops)

        return await self._database.transaction(principal.tenant, work, deadline)

    @tracing.memory("upsert_memory", "agent_memory")
    async def step(self, principal: Principal, request: StepInput, deadline: Deadline) -> Stepped:
        """Learns from some turns. The same step again changes nothing. Raises Forbidden."""
        writing, lasting = (
            Writing.of(principal, request.source),
            await self.learned(principal, request, deadline),
        )

        async def work(c: Connection) -> Stepped:
            held = await queries.hold(c, principal.tenant, writing.place.scope, request.source)
            run = await queries.hold_run(c, principal.tenant, request.run_id)
            if run is None or not _is_next(held, run, request):
                return Stepped("lost", held["position"], Tally(), {})
            changes = await lasting.write(c, self._model)
            await queries_changes.add(c, principal.tenant, request.run_id, changes)
            return await self._advance(c, principal, run, request, changes)

        return await self._transactions.run(principal.tenant, work, deadline)

    async def learned(self, principal: Principal, request: StepInput, deadline: Deadline) -> Lasting:
        """What the turns teach, ready to be written."""
        learned = Learned()
        if request.turns:
            # The rest is for writing what was learned: a step that is late would be learned again.
            seconds = LEARNING * deadline.left()
            with charged_to(_payer(principal, request)):
                learned = await self._learner(principal.tenant, request.turns, request.source, seconds)
        lasting = Lasting(Writing.of(principal, request.source), learned)
        await lasting.prepare()
        return lasting

    async def _advance(
        self,
        c: Connection,
        principal: Principal,
        run: asyncpg.Record,
        request: StepInput,
        changes: list[Change],
    ) -> Stepped:
        tenant, session = principal.tenant, _session(request.source)
        until = min(request.until, run["through"])
        counts = tally(changes, msgspec.convert(run["tally"], Tally))
        skipped = added(run["skipped"], request.skipped)
        finished = until >= run["through"]
        await queries.advance(c, tenant, run["id"], until, counts, skipped, finished=finished)
        if finished:
            await queries.release(c, tenant, session, until, finished=True)
            await announce(c, tenant, run, {"run": run["id"], **msgspec.structs.asdict(counts)})
        else:
            await queries.lease(c, tenant, session, until, run["id"], request.holder)
        return Stepped("finished" if finished else "on", until, counts, skipped)

    async def release(self, principal: Principal, request: ReleaseInput, deadline: Deadline) -> None:
        """Lets others go on with the run at once."""
        await self._database.transaction(
            principal.tenant,
            lambda c: queries.let_go(c, principal.tenant, request.session_id, request.holder),
            deadline,
        )


class Lasting:
    """What a step writes."""

    def __init__(self, writing: Writing, learned: Learned) -> None:
        self._writing = writing
        self._learned = learned
        self._memories = [episodes(writing, learned.episodes), commitments(writing, learned.commitments)]

    async def prepare(self) -> None:
        for memories in self._memories:
            await memories.prepare()

    async def write(self, c: Connection, model: str) -> list[Change]:
        writing = self._writing
        if self._learned == Learned():
            return []
        await lock_scopes(c, writing.tenant, [writing.place.scope])
        changes = [change for alias in self._learned.aliases for change in await name(c, writing, alias)]
        changes += await state(c, writing, self._learned.facts)
        for memories in self._memories:
            changes += await memories.write(c, writing.tenant, model)
        return changes


def _payer(principal: Principal, request: StepInput) -> Payer:
    """The caller, or who wrote what nobody asked to learn from, in the mission of the session."""
    if request.payer is None:
        return payer_of(principal.tenant)
    source = request.source
    return Payer(principal.tenant, request.payer, source.agent_name, source.mission_id)


def _session(source: Source) -> str:
    if source.session_id is None:
        raise Invalid.field("source", "must name a session")
    return source.session_id


def _is_next(held: asyncpg.Record, run: asyncpg.Record, request: StepInput) -> bool:
    """Whether the step follows the last one of the run that the caller holds."""
    return (
        run["session_id"] == request.source.session_id
        and (held["run_id"], held["holder"]) == (request.run_id, request.holder)
        and held["position"] == request.after
        and request.until > request.after
    )


async def announce(c: Connection, tenant: str, run: asyncpg.Record, payload: dict[str, int]) -> None:
    await add_event(c, tenant, run["scope"], EVENT, payload, agent_name=run["agent_name"])
