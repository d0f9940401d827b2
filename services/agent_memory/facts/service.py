"""Reads facts, by both of their times."""

from __future__ import annotations

import asyncpg

from services.agent_memory.facts import queries, queries_aliases
from services.agent_memory.facts.names import entity_key, predicate_key
from services.agent_memory.facts.queries import Wanted
from services.agent_memory.facts.schemas import Fact, FactCursor, Facts, QueryFactsInput
from services.agent_memory.facts.schemas_reading import (
    Alias,
    AliasCursor,
    Aliases,
    FactStats,
    Neighbour,
    Neighbours,
    PredicateCount,
    PredicateCursor,
    Predicates,
    TimelineCursor,
)
from shared.auth import Principal
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.errors import NotFound
from shared.paging.pages import page_of
from shared.provenance import utc


class FactReader:
    def __init__(self, database: Database) -> None:
        self._database = database

    async def query(self, principal: Principal, request: QueryFactsInput, deadline: Deadline) -> Facts:
        seen = queries.bounds(principal, request.user_id)
        before = FactCursor.read(request.cursor)
        wanted = Wanted(
            scopes=request.scopes or None,
            predicate_key=None if request.predicate is None else predicate_key(request.predicate),
            known_at=utc(request.known_at, "known_at"),
            at=utc(request.at, "at"),
            every_time=request.every_time,
        )

        async def work(c: Connection) -> list[asyncpg.Record]:
            names = None
            if request.entity is not None:
                names = await queries.names_of(c, principal.tenant, entity_key(request.entity), seen)
            return await queries.page(
                c,
                principal.tenant,
                seen,
                wanted,
                names,
                before=None if before is None else before.id,
                limit=request.limit + 1,
            )

        rows = await self._database.run(principal.tenant, work, deadline)
        page = page_of(rows, request.limit, lambda row: FactCursor(id=row["row"]))
        return Facts([Fact.from_row(row) for row in page.rows], page.next)

    async def get(self, principal: Principal, fact_id: int, deadline: Deadline) -> Fact:
        """Raises NotFound for a fact that the key may not see, as for one that does not exist."""
        seen = queries.bounds(principal)
        row = await self._database.run(
            principal.tenant, lambda c: queries.find(c, principal.tenant, seen, fact_id), deadline
        )
        if row is None:
            raise NotFound(f"no fact {fact_id}")
        return Fact.from_row(row)

    async def timeline(
        self,
        principal: Principal,
        entity: str,
        wanted: Wanted,
        user_id: str | None,
        cursor: str | None,
        limit: int,
        deadline: Deadline,
    ) -> Facts:
        """What held of an entity, and when, the earliest first."""
        seen, after = queries.bounds(principal, user_id), TimelineCursor.read(cursor)

        async def work(c: Connection) -> list[asyncpg.Record]:
            names = await queries.names_of(c, principal.tenant, entity_key(entity), seen)
            return await queries.timeline(
                c, principal.tenant, seen, wanted, names, after=after, limit=limit + 1
            )

        rows = await self._database.run(principal.tenant, work, deadline)
        page = page_of(rows, limit, lambda row: TimelineCursor(valid_from=row["valid_from"], id=row["row"]))
        return Facts([Fact.from_row(row) for row in page.rows], page.next)

    async def neighbours(
        self,
        principal: Principal,
        entity: str,
        user_id: str | None,
        hops: int,
        limit: int,
        deadline: Deadline,
    ) -> Neighbours:
        """What holds now of an entity, of the entities that this names, and so on."""
        seen, tenant = queries.bounds(principal, user_id), principal.tenant

        async def work(c: Connection) -> Neighbours:
            names = await queries.names_of(c, tenant, entity_key(entity), seen)
            near, reached = {name.key for name in names}, set[str]()
            found: list[Neighbour] = []
            known: list[int] = []
            for hop in range(1, hops + 1):
                room = limit - len(found)
                rows = await queries.neighbours(c, tenant, seen, sorted(near), known, room + 1)
                found += [Neighbour.from_row(row, hop=hop) for row in rows[:room]]
                if len(rows) > room:
                    return Neighbours(found, truncated=True)
                known += [row["row"] for row in rows]
                reached |= near
                near = {row[side] for row in rows for side in ("subject_key", "object_key")} - reached
                if not near:
                    break
            return Neighbours(found, truncated=False)

        return await self._database.run(tenant, work, deadline)

    async def predicates(
        self, principal: Principal, user_id: str | None, cursor: str | None, limit: int, deadline: Deadline
    ) -> Predicates:
        seen, after = queries.bounds(principal, user_id), PredicateCursor.read(cursor)
        rows = await self._database.run(
            principal.tenant,
            lambda c: queries.predicates(
                c, principal.tenant, seen, None if after is None else after.key, limit + 1
            ),
            deadline,
        )
        page = page_of(rows, limit, lambda row: PredicateCursor(key=row["predicate_key"]))
        counts = [PredicateCount(row["predicate"], row["facts"], row["subjects"]) for row in page.rows]
        return Predicates(counts, page.next)

    async def stats(self, principal: Principal, user_id: str | None, deadline: Deadline) -> FactStats:
        seen = queries.bounds(principal, user_id)
        row = await self._database.run(
            principal.tenant, lambda c: queries.stats(c, principal.tenant, seen), deadline
        )
        return FactStats(**dict(row))

    async def aliases(
        self,
        principal: Principal,
        name: str | None,
        cursor: str | None,
        limit: int,
        deadline: Deadline,
    ) -> Aliases:
        seen, after = queries.bounds(principal), AliasCursor.read(cursor)
        key = None if name is None else entity_key(name)
        rows = await self._database.run(
            principal.tenant,
            lambda c: queries_aliases.list_aliases(
                c, principal.tenant, seen, name_key=key, after=after, limit=limit + 1
            ),
            deadline,
        )
        page = page_of(rows, limit, lambda row: AliasCursor(alias_key=row["alias_key"], scope=row["scope"]))
        aliases = [Alias(**{field: row[field] for field in Alias.__struct_fields__}) for row in page.rows]
        return Aliases(aliases, page.next)
