"""The rules of relationships: both ends are objects of the session."""

from __future__ import annotations

from uuid import UUID

import asyncpg

from services.cache.sessions.relationships import queries
from services.cache.sessions.relationships.schemas import (
    Related,
    RelateInput,
    Relation,
    Relationship,
    RelationshipCursor,
    Relationships,
    Unrelated,
)
from services.cache.sessions.transactions import Held, SessionTransactions
from shared.auth import Principal
from shared.database.idempotency import Key
from shared.database.postgres import Connection
from shared.deadline import Deadline
from shared.errors import Invalid, NotFound
from shared.paging.pages import page_of


class RelationshipService:
    def __init__(self, transactions: SessionTransactions) -> None:
        self._transactions = transactions

    async def relate(
        self, principal: Principal, session: str, wanted: RelateInput, key: Key | None, deadline: Deadline
    ) -> Related:
        """Raises Invalid for an object that is not of the session."""

        async def work(c: Connection, held: Held) -> Related:
            known = await queries.of_session(c, held.tenant, held.id, [wanted.source_id, wanted.target_id])
            for name in ("source_id", "target_id"):
                if getattr(wanted, name) not in known:
                    raise Invalid.field(name, "is no object of this session")
            row = await queries.relate(c, held.tenant, held.id, wanted)
            return Related(_relationship(row), row["created"])

        return await self._transactions.write(principal, session, Related, work, key, deadline)

    async def list_relationships(
        self,
        principal: Principal,
        session: str,
        deadline: Deadline,
        *,
        relationship: Relation | None,
        object_id: UUID | None,
        cursor: str | None,
        limit: int,
    ) -> Relationships:
        after = RelationshipCursor.read(cursor)

        async def work(c: Connection, held: Held) -> list[asyncpg.Record]:
            return await queries.list_relationships(
                c,
                held.tenant,
                held.id,
                relationship=relationship,
                object_id=object_id,
                after=after,
                limit=limit + 1,
            )

        rows = await self._transactions.read(principal, session, work, deadline)
        page = page_of(
            rows, limit, lambda row: RelationshipCursor(created_at=row["created_at"], id=row["id"])
        )
        return Relationships([_relationship(row) for row in page.rows], page.next)

    async def remove(
        self,
        principal: Principal,
        session: str,
        relationship_id: UUID,
        deadline: Deadline,
    ) -> Unrelated:
        async def work(c: Connection, held: Held) -> Unrelated:
            if not await queries.remove(c, held.tenant, held.id, relationship_id):
                raise NotFound(f"session {held.external_id!r} has no relationship {relationship_id}")
            return Unrelated(relationship_id)

        return await self._transactions.write(principal, session, Unrelated, work, None, deadline)


def _relationship(row: asyncpg.Record) -> Relationship:
    return Relationship(**{name: row[name] for name in Relationship.__struct_fields__})
