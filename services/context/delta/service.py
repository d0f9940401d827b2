"""Keeps what sessions were given, and finds what has changed since."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

import asyncpg

from services.context import stores
from services.context.assembly.asking import Ask
from services.context.assembly.choice import Chosen
from services.context.assembly.graph.lines import Line as FactLine
from services.context.assembly.rendering import handle, handle_of
from services.context.assembly.supersession.newest import Superseded
from services.context.delta import queries
from services.context.delta.corrections import Change, Line
from services.context.delta.known import BY, CUT, Known, passage
from services.context.delta.queries import Gift, Whose
from services.context.delta.schemas import Changes, Correction
from services.context.forwarding.owners import Failed, Owners
from services.context.log.replay import GIVEN
from services.context.schemas import Degraded
from services.context.stores import FACTS, LINKS, Owned, OwnerName
from shared.auth import Principal
from shared.database.postgres import EVERY_TENANT, Connection, Database
from shared.deadline import Deadline
from shared.errors import Unavailable
from shared.search.evidence import Candidate, Triple
from shared.states.schemas import (
    GONE,
    MOST_KNOWN,
    ChangedPart,
    KnownPart,
    StatesRequest,
    state_of,
    state_of_fact,
)

SOURCE = "delta"
"""Its name in `degraded`."""
SWEEP_EVERY_SECONDS = 3_600.0
_KEEP_DAYS = 30
_SWEEP_SECONDS = 60.0
_MOST_GIVEN = 50_000
# Of an item, as many are compared.
_MOST_PASSAGES = 20
_OWNED = {source.name: source for source in stores.SOURCES if isinstance(source, Owned)}

T = TypeVar("T")


class Asker(NamedTuple):
    """Who asks what changed."""

    principal: Principal
    caller: str
    request_id: str


class Session(NamedTuple):
    """What a session knows before an answer."""

    known: Mapping[str, Known]
    changes: list[Change]
    degraded: list[Degraded]

    def fresh(self, items: Iterable[T], name: Callable[[T], str], state: Callable[[T], str]) -> list[T]:
        """Those that the session was not given as they are now."""
        return [
            item
            for item in items
            if (known := self.known.get(name(item))) is None or known.owners != state(item) or known.passages
        ]

    def whole(self) -> set[str]:
        """The handles of which the session needs no more. Of others it has passages: it may be given more of them."""
        return {name for name, known in self.known.items() if not known.passages}

    def new_facts(self, triples: Iterable[Triple]) -> list[Triple]:
        """Those that the session does not know. What became of those that it knows comes as a correction."""
        return [triple for triple in triples if FACTS.handle(triple.id) not in self.known]

    def new_texts(self, texts: Iterable[T], store: str) -> list[T]:
        """Of profiles, linked files and background, again where they are found changed."""
        return self.fresh(texts, lambda text: handle_of(_as_candidate(text), store), _state_of_text)

    def overtaken(self, superseded: Iterable[Superseded]) -> list[Change]:
        """What newer items supersede, not because their writers say so, but as the search has just found."""
        found = []
        for older in superseded:
            name = handle(older.ranked)
            known = self.known.get(name)
            if known is None or known.state == GONE or older.ranked.candidate.superseded_by is not None:
                continue
            if known.by != older.by:
                gift = Gift(name, known.position, f"{known.owners}{BY}{older.by}", known.scopes)
                found.append(Change(name, "superseded", older.by, None, gift))
        return found


class Given(NamedTuple):
    """What of an answer the session did not get from another one meanwhile."""

    chosen: Chosen
    facts: list[FactLine]
    corrections: list[Line]
    position: int
    degraded: list[Degraded]


class Sessions:
    def __init__(self, database: Database, owners: Owners) -> None:
        self._database = database
        self._owners = owners

    async def look(self, ask: Ask, began: float, deadline: Deadline) -> Session:
        """What the session of the request knows, and what has changed of it. Raises an owner's refusal.

        `began`: when the request came, as `time.perf_counter` has it.
        """
        if ask.request.delta is None:
            return Session({}, [], [])
        whose = _whose(ask)

        async def work(c: Connection) -> list[asyncpg.Record]:
            if not ask.request.delta:
                await queries.forget(c, whose, 0, 0.0)
            elif ask.request.since is not None:
                await queries.forget(c, whose, ask.request.since, time.perf_counter() - began)
            return await queries.known(c, whose, _MOST_GIVEN)

        try:
            rows = await self._database.run(whose.tenant, work, deadline)
        except Unavailable as error:
            return Session({}, [], [Degraded(SOURCE, error.dependency)])
        known = {row["handle"]: Known(row["position"], row["state"], row["scopes"]) for row in rows}
        asker = Asker(ask.principal, ask.request.caller, ask.request_id)
        changes, degraded = await self._changes(asker, known, deadline)
        return Session(known, changes, degraded)

    async def changes(self, asker: Asker, session_id: str, deadline: Deadline) -> Changes:
        """What the session would be told, which it is not by this."""
        whose = Whose(asker.principal.tenant, asker.principal.key, asker.caller, session_id)
        rows = await self._database.run(
            whose.tenant, lambda c: queries.known(c, whose, _MOST_GIVEN), deadline
        )
        known = {row["handle"]: Known(row["position"], row["state"], row["scopes"]) for row in rows}
        found, degraded = await self._changes(asker, known, deadline)
        corrections = [Correction(change.handle, change.what, change.by) for change in found]
        return Changes(_latest(known), corrections, degraded)

    async def _changes(
        self, asker: Asker, known: Mapping[str, Known], deadline: Deadline
    ) -> tuple[list[Change], list[Degraded]]:
        asked = _by_owner(known)
        answers = await asyncio.gather(
            *(
                self._owners[owner].states(
                    StatesRequest(agent=asker.caller, stores=parts),
                    asker.principal,
                    deadline,
                    asker.request_id,
                )
                for owner, parts in asked.items()
            ),
            return_exceptions=True,
        )
        changes, degraded = [], []
        for owner, answer in zip(asked, answers, strict=True):
            if isinstance(answer, Failed):
                degraded.append(Degraded(SOURCE, f"{owner} {answer.reason}"))
            elif isinstance(answer, BaseException):
                raise answer
            else:
                changes += [
                    _change(_OWNED[name], part, known)
                    for name, parts in answer.stores.items()
                    for part in parts
                ]
        return changes, degraded

    async def give(
        self,
        ask: Ask,
        session: Session,
        chosen: Chosen,
        facts: Sequence[FactLine],
        corrections: Sequence[Line],
        deadline: Deadline,
    ) -> Given:
        """Records what an answer tells, before it does. Of answers at once, each item is in one."""
        chosen = _without(chosen, _passages_again(session, chosen))
        gifts = _gifts(ask, session, chosen, facts)
        gifts += [line.change.gift for line in corrections]
        whole = Given(chosen, list(facts), list(corrections), _latest(session.known), [])
        if not gifts:
            return whole
        whose = _whose(ask)

        async def work(c: Connection) -> tuple[set[str], int]:
            return await queries.give(c, whose, gifts), await queries.last(c, whose)

        try:
            mine, position = await self._database.transaction(whose.tenant, work, deadline)
        except Unavailable as error:
            return whole._replace(degraded=[Degraded(SOURCE, error.dependency)])
        if len(mine) == len(gifts):
            return whole._replace(position=position)
        return Given(
            chosen=_without(chosen, {handle(placed.ranked) for placed in chosen.taken} - mine),
            facts=[fact._replace(shown=fact.shown and fact.handle in mine) for fact in facts],
            corrections=[line for line in corrections if line.change.handle in mine],
            position=position,
            degraded=[],
        )

    async def sweep(self) -> None:
        """Forgets what was given a month ago: should it come up again, it is given again."""
        deadline = Deadline(_SWEEP_SECONDS)
        while deadline.left() > _SWEEP_SECONDS / 2:
            deleted = await self._database.run(
                EVERY_TENANT, lambda c: c.execute(queries.SWEEP, _KEEP_DAYS), deadline
            )
            if int(deleted.rpartition(" ")[2]) < queries.SWEPT_AT_ONCE:
                break


def _whose(ask: Ask) -> Whose:
    request = ask.request
    return Whose(ask.principal.tenant, ask.principal.key, request.caller, request.session_id or "")


def _latest(known: Mapping[str, Known]) -> int:
    return max((one.position for one in known.values()), default=0)


def _by_owner(known: Mapping[str, Known]) -> dict[OwnerName, dict[str, list[KnownPart]]]:
    """The newest of each source, as many as an owner compares. Files that a request names have none to compare."""
    parts: defaultdict[OwnerName, dict[str, list[KnownPart]]] = defaultdict(dict)
    for name, one in known.items():
        source = stores.source_of(name)
        if isinstance(source, Owned) and source is not LINKS:
            number, _, chunk = name.partition(":")[2].partition("#")
            of_source = parts[source.owner].setdefault(source.name, [])
            if len(of_source) < MOST_KNOWN:
                of_source.append(KnownPart(int(number), int(chunk) if chunk else None, one.owners))
    return parts


def _change(store: Owned, part: ChangedPart, known: Mapping[str, Known]) -> Change:
    name = store.handle(part.id, part.chunk)
    by = None if part.by is None else store.handle(part.by)
    gift = Gift(name, known[name].position, part.state, known[name].scopes)
    return Change(name, part.what, by if part.what == "superseded" else None, part.text, gift)


def _gifts(ask: Ask, session: Session, chosen: Chosen, facts: Iterable[FactLine]) -> list[Gift]:
    who = [f"agent:{ask.request.caller}"]
    if ask.request.user_id is not None:
        who.append(f"user:{ask.request.user_id}")

    def gift(name: str, state: str, scopes: Iterable[str]) -> Gift:
        before = session.known.get(name)
        after = 0 if before is None else before.position
        return Gift(name, after, state, list(dict.fromkeys([*scopes, *who])))

    gifts = []
    for placed in chosen.taken:
        candidate, name = placed.ranked.candidate, handle(placed.ranked)
        state = _state_of_text(candidate)
        if placed.outcome == "cut":
            before = session.known[name].passages if name in session.known else []
            state += CUT + " ".join([*before, passage(placed.rendered or "")][-_MOST_PASSAGES:])
        gifts.append(gift(name, state, candidate.scopes))
    shown = (fact for fact in facts if fact.shown)
    gifts += [gift(fact.handle, _state_of_fact(fact.triple), fact.triple.scopes) for fact in shown]
    return gifts


def _passages_again(session: Session, chosen: Chosen) -> set[str]:
    """The handles of items that would show what the session has of them already."""
    return {
        name
        for placed in chosen.taken
        if (name := handle(placed.ranked)) in session.known
        and placed.outcome == "cut"
        and passage(placed.rendered or "") in session.known[name].passages
    }


def _without(chosen: Chosen, names: Collection[str]) -> Chosen:
    if not names:
        return chosen
    return chosen._replace(
        placed=[
            placed._replace(taken=0, outcome=GIVEN, rendered=None)
            if placed.taken and handle(placed.ranked) in names
            else placed
            for placed in chosen.placed
        ]
    )


def _as_candidate(text: object) -> Candidate:
    assert isinstance(text, Candidate), text
    return text


def _state_of_text(text: object) -> str:
    candidate = _as_candidate(text)
    return state_of(candidate.text, candidate.superseded_by)


def _state_of_fact(triple: Triple) -> str:
    said = (triple.subject, triple.predicate, triple.object)
    return state_of_fact(*said, triple.valid_to, disputed=triple.disputed)
