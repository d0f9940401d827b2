"""Writes facts, and closes them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from itertools import groupby

import asyncpg

from services.agent_memory.facts import queries_aliases as aliases
from services.agent_memory.facts.names import entity_key, predicate_key
from services.agent_memory.facts.schemas import (
    AddFactInput,
    InvalidatedFacts,
    InvalidateFactInput,
    WrittenFact,
    WrittenFacts,
)
from services.agent_memory.facts.writes import queries
from services.agent_memory.facts.writes.recording import close_rows, record
from services.agent_memory.facts.writes.statements import (
    Place,
    Statement,
    place_of,
    require_place,
    stated,
    writer_of,
)
from services.agent_memory.facts.writes.waiting import about, about_row, waiting_of
from services.agent_memory.transactions import Transactions
from shared.auth import Principal
from shared.database.idempotency import Key
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.errors import Conflict, Forbidden, NotFound
from shared.provenance import Origin, utc
from shared.review.reviews import About, Reviews
from shared.telemetry import tracing

_MOST_CLOSED = 1_000
_OF_A_FILE = "a file of the vault states this fact: change the file"


class FactWriter:
    def __init__(self, database: Database, transactions: Transactions) -> None:
        self._database = database
        self._transactions = transactions
        self._reviews = Reviews("memory")

    @tracing.memory("upsert_memory", "agent_memory")
    async def add(
        self, principal: Principal, facts: Sequence[AddFactInput], key: Key | None, deadline: Deadline
    ) -> WrittenFacts:
        """Records all facts or none."""
        statements = [stated(principal, fact) for fact in facts]
        scopes = sorted({statement.place.scope for statement in statements})

        async def work(c: Connection) -> WrittenFacts:
            abouts = [about(statement) for statement in statements]
            held = await self._reviews.held(
                c, principal, abouts, lambda place, rules: waiting_of(statements[place], facts[place], rules)
            )
            free = [statement for place, statement in enumerate(statements) if place not in held]
            done = iter(await self._record(c, principal, free, scopes))
            return WrittenFacts(
                [_waits(held[place]) if place in held else next(done) for place in range(len(facts))]
            )

        if key is not None:
            key = key.about(
                (fact.agent_name for fact in facts),
                (statement.place.user_id for statement in statements),
            )
        scope = scopes[0] if len(scopes) == 1 else "shared"
        return await self._transactions.once(principal, scope, WrittenFacts, work, key, deadline)

    async def _record(
        self, c: Connection, principal: Principal, statements: Sequence[Statement], scopes: Sequence[str]
    ) -> list[WrittenFact]:
        if not statements:
            return []
        now = await queries.lock_scopes(c, principal.tenant, scopes)
        results = await record(c, principal.tenant, statements, now, principal.key)
        await _add_events(c, principal.tenant, statements, results)
        return results

    async def add_reviewed(self, c: Connection, writer: Principal, fact: AddFactInput) -> int:
        """Records, in a transaction, what a reviewer approved."""
        statement = stated(writer, fact)
        (result,) = await self._record(c, writer, [statement], [statement.place.scope])
        return result.id

    async def whereabouts(self, c: Connection, principal: Principal, fact_id: int) -> About:
        """Raises NotFound for a fact that the key may not see."""
        row = await queries.find(c, principal.tenant, fact_id)
        place = _place_of_row(principal, row, fact_id)
        assert row is not None
        return about_row(place, row["agent_name"])

    async def close(self, c: Connection, principal: Principal, fact_id: int) -> None:
        """Closes a fact, in a transaction. What was believed before stays readable by its time. Raises Conflict for one
        that the key may not close."""
        place = _place_of_row(principal, await queries.find(c, principal.tenant, fact_id), fact_id)
        if place.source is not None:
            raise Conflict(_OF_A_FILE)
        now = await queries.lock_scopes(c, principal.tenant, [place.scope])
        row = await queries.find_current(c, principal.tenant, fact_id)
        if row is None or (row["valid_to"] is not None and row["valid_to"] <= now):
            return
        writer = writer_of(principal, place.scope, "user")
        if await close_rows(c, principal.tenant, [row], now, now, writer, principal.key):
            raise Conflict(f"this key may not close fact {fact_id}")
        payload: dict[str, list[int]] = {"closed": [fact_id], "kept": []}
        await queries.add_event(c, principal.tenant, place.scope, "kg_invalidate", payload, agent_name=None)

    @tracing.memory("update_memory", "agent_memory")
    async def invalidate(
        self, principal: Principal, request: InvalidateFactInput, key: Key | None, deadline: Deadline
    ) -> InvalidatedFacts:
        """Closes facts. What was believed before stays readable by its time."""
        place = await self._place(principal, request, deadline)
        writer = writer_of(principal, place.scope, Origin.of(principal, request.source_kind).kind)

        async def work(c: Connection) -> InvalidatedFacts:
            now = await queries.lock_scopes(c, principal.tenant, [place.scope])
            at = utc(request.at, "at") or now
            chosen = await _chosen(c, principal, request, place, at)
            rows = [row for row in chosen if row["valid_to"] is None or row["valid_to"] > at]
            kept = await close_rows(c, principal.tenant, rows, now, at, writer, principal.key)
            answer = InvalidatedFacts([row["id"] for row in rows if row["id"] not in kept], kept)
            payload = {"closed": answer.closed, "kept": answer.kept}
            await queries.add_event(
                c, principal.tenant, place.scope, "kg_invalidate", payload, agent_name=request.agent_name
            )
            return answer

        about = None if key is None else key.about([request.agent_name], [place.user_id])
        return await self._transactions.once(
            principal, place.scope, InvalidatedFacts, work, about, deadline, status=200
        )

    async def _place(self, principal: Principal, request: InvalidateFactInput, deadline: Deadline) -> Place:
        if request.id is None:
            return place_of(principal, request)
        fact_id = request.id
        row = await self._database.run(
            principal.tenant, lambda c: queries.find(c, principal.tenant, fact_id), deadline
        )
        place = _place_of_row(principal, row, fact_id)
        if place.source is not None:
            raise Conflict(_OF_A_FILE)
        return place


def _waits(waiting_id: int) -> WrittenFact:
    return WrittenFact(waiting_id, "created", review="pending")


def _place_of_row(principal: Principal, row: asyncpg.Record | None, fact_id: int) -> Place:
    """Raises NotFound for a fact that the key may not see, as for one that does not exist."""
    unknown = NotFound(f"no fact {fact_id}")
    if row is None:
        raise unknown
    try:
        require_place(principal, row["scope"])
        principal.require_user(row["user_id"])
    except Forbidden:
        raise unknown from None
    return Place(row["scope"], row["user_id"], row["source"])


async def _chosen(
    c: Connection, principal: Principal, request: InvalidateFactInput, place: Place, at: datetime
) -> list[asyncpg.Record]:
    """The facts of the request that hold after `at`."""
    if request.id is not None:
        row = await queries.find_current(c, principal.tenant, request.id)
        return [] if row is None else [row]
    assert request.subject is not None
    names = [entity_key(name) for name in (request.subject, request.object) if name is not None]
    entities = await aliases.entities(c, principal.tenant, [(place.scope, name) for name in names])
    subject, *objects = (entities.get((place.scope, name), name) for name in names)
    predicate = None if request.predicate is None else predicate_key(request.predicate)
    value = objects[0] if objects else None
    return await queries.of_subject(
        c, principal.tenant, place, subject, predicate, value, after=at, limit=_MOST_CLOSED
    )


async def _add_events(
    c: Connection, tenant: str, statements: Sequence[Statement], results: Sequence[WrittenFact]
) -> None:
    """One for each scope, agent and dispatch."""

    def about(pair: tuple[Statement, WrittenFact]) -> tuple[str, str, int]:
        place, provenance = pair[0].place, pair[0].provenance
        return place.scope, provenance.agent_name or "", provenance.dispatch_id or 0

    pairs = sorted(zip(statements, results, strict=True), key=about)
    for (scope, agent, dispatch), some in groupby(pairs, key=about):
        written = [result for _, result in some]
        payload = {
            "ids": [result.id for result in written],
            "closed": sorted({closed for result in written for closed in result.closed}),
        }
        await queries.add_event(
            c, tenant, scope, "kg_add", payload, agent_name=agent or None, dispatch_id=dispatch or None
        )
