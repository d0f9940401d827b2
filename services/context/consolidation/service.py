"""Runs consolidation over sessions: reads their turns from the cache service, and hands them to agent-memory.

Each owner checks the caller's rights. A run that is broken off goes on with the next call.
"""

from __future__ import annotations

import contextlib
import re
import uuid
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import quote

import msgspec

from services.context.consolidation import queries
from services.context.consolidation.schemas import Consolidated, ConsolidateInput
from services.context.consolidation.turns import OVERLAP, STEP, Event, Names, Step, step_of
from services.context.consolidation.writers import on_behalf, payer_of
from services.context.forwarding.owners import Owner
from shared.auth import Principal
from shared.concurrency.threads import in_worker
from shared.database.postgres import Database
from shared.deadline import Deadline
from shared.errors import AppError

WRITER = "consolidation"
"""Stands for the key that wrote what is learned unasked, unless bound keys wrote the events."""
SECONDS = 30.0
# A step may take so long.
_LEAST_LEFT = 5.0
_KEY = re.compile("key:([0-9]{1,18})")
_EVENTS = list[Event]


class _Run(NamedTuple):
    principal: Principal
    session: Mapping[str, Any]
    begun: Mapping[str, Any]
    holder: str
    deadline: Deadline
    request_id: str

    @property
    def source(self) -> dict[str, Any]:
        parties = {name: self.session[name] for name in ("agent_name", "mission_id", "user_id")}
        return {**parties, "session_id": self.session["id"]}

    def names(self, bound: Mapping[str, Principal]) -> Names:
        parties = self.session["user_id"], self.session["agent_name"]
        agents = frozenset(key for key, of in bound.items() if of.agent is not None)
        return Names(*parties, self.principal.agent is None, agents)


class _Read(NamedTuple):
    step: Step
    principal: Principal
    """As whom it is learned."""
    payer: str | None = None
    """The key that pays for it, if not the caller's."""


class Consolidation:
    def __init__(self, database: Database, owners: Mapping[str, Owner]) -> None:
        self._database = database
        self._cache = owners["cache"]
        self._memory = owners["agent_memory"]

    async def consolidate(
        self, principal: Principal, request: ConsolidateInput, deadline: Deadline, request_id: str
    ) -> Consolidated:
        """Raises the owners' refusals, and Unavailable. What was learned by then stays."""
        if request.session_id is None:
            return await self._file(principal, request, deadline, request_id)
        path = f"/api/sessions/{quote(request.session_id, safe='')}"
        session = (await self._cache.ask("GET", path, principal, deadline, request_id))["data"]
        run = _Run(principal, session, {}, uuid.uuid4().hex, deadline, request_id)
        begun = await self._tell(
            run,
            "begin",
            source=run.source,
            last=session["last_seq"],
            holder=run.holder,
            from_start=request.from_start,
        )
        if begun["status"] != "begun":
            return _answer(run._replace(begun=begun), begun["status"], begun["position"])
        return await self._steps(run._replace(begun=begun))

    async def _file(
        self, principal: Principal, request: ConsolidateInput, deadline: Deadline, request_id: str
    ) -> Consolidated:
        wanted = {"path": request.path, "scope": request.scope, "from_start": request.from_start}
        body = msgspec.json.encode(wanted)
        path = "/internal/consolidation/file"
        done = await self._memory.ask("POST", path, principal, deadline, request_id, body=body)
        return _counted(
            Consolidated(
                status=done["status"],
                session_id=None,
                run_id=done["run_id"],
                position=done["lines"],
                through=done["lines"],
            ),
            done["tally"],
        )

    async def _steps(self, run: _Run) -> Consolidated:
        position = run.begun["position"]
        stepped: Mapping[str, Any] = {}
        try:
            while run.deadline.left() > _LEAST_LEFT or not stepped:
                step, principal, payer = await self._read(run, position)
                stepped = await self._tell(
                    run._replace(principal=principal),
                    "step",
                    source=run.source,
                    run_id=run.begun["run_id"],
                    holder=run.holder,
                    after=position,
                    until=step.until,
                    turns=step.turns,
                    skipped=step.skipped,
                    **({} if payer is None else {"payer": payer}),
                )
                position = stepped["position"]
                if stepped["status"] != "on":
                    return _answer(run, _ended(run, stepped), position, stepped)
        except AppError:
            await self._let_go(run)
            raise
        await self._let_go(run)
        return _answer(run, "unfinished", position, stepped)

    async def _read(self, run: _Run, after: int) -> _Read:
        through = run.begun["through"]
        events = await self._events(run, max(0, after - OVERLAP), STEP + OVERLAP)
        if not any(event.seq > after for event in events):
            # Those before are too long for one answer together with these.
            events = await self._events(run, after, STEP)
        if not events:
            return _Read(Step([], {}, through), run.principal)  # the trail ends here
        stop = next((stop for stop in run.begun["stops"] if stop > after), through)
        bound = await self._bound(run, events)
        step = await in_worker(step_of, events, after, min(stop, through), run.names(bound))
        if run.principal.key != WRITER:
            return _Read(step, run.principal)
        keys = [event.written_by for event in events if after < event.seq <= step.until]
        return _Read(step, on_behalf(run.principal, keys, bound), payer_of(keys, bound))

    async def _bound(self, run: _Run, events: Sequence[Event]) -> dict[str, Principal]:
        """The keys that wrote these events and are bound."""
        ids = sorted({int(match[1]) for event in events if (match := _KEY.fullmatch(event.written_by))})
        if not ids:
            return {}
        tenant = run.principal.tenant
        return await self._database.run(tenant, lambda c: queries.bound(c, tenant, ids), run.deadline)

    async def _events(self, run: _Run, after: int, limit: int) -> list[Event]:
        page = await self._cache.ask(
            "GET",
            f"/internal/sessions/{run.session['id']}/events",
            run.principal,
            run.deadline,
            run.request_id,
            params={"after": str(after), "limit": str(limit)},
        )
        return msgspec.convert(page["data"], _EVENTS)

    async def _let_go(self, run: _Run) -> None:
        """Otherwise the next call would wait until the lease ends."""
        with contextlib.suppress(AppError):
            await self._tell(run, "release", session_id=run.session["id"], holder=run.holder)

    async def _tell(self, run: _Run, what: str, **body: Any) -> Any:
        return await self._memory.ask(
            "POST",
            f"/internal/consolidation/{what}",
            run.principal,
            run.deadline,
            run.request_id,
            body=msgspec.json.encode(body),
        )


def _ended(run: _Run, stepped: Mapping[str, Any]) -> str:
    """A run that was broken off ends where it was to end, and what was said since waits for the next call."""
    if stepped["status"] != "finished":
        return "under_way"
    return "finished" if run.begun["through"] >= run.session["last_seq"] else "unfinished"


def _answer(run: _Run, status: Any, position: int, stepped: Mapping[str, Any] | None = None) -> Consolidated:
    answer = Consolidated(
        status=status,
        session_id=run.session["id"],
        run_id=run.begun["run_id"],
        position=position,
        through=run.begun["through"],
        skipped=dict((stepped or {}).get("skipped") or {}),
    )
    return _counted(answer, (stepped or {}).get("tally") or {})


def _counted(answer: Consolidated, tally: Mapping[str, int]) -> Consolidated:
    answer.opened = tally.get("opened", 0)
    answer.closed = tally.get("closed", 0) + tally.get("replaced", 0)
    answer.confirmed = tally.get("confirmed", 0)
    answer.disputed = tally.get("disputed", 0)
    return answer
