"""Keeps objects of sessions for their users, reinforces them, and forgets them."""

from __future__ import annotations

from uuid import UUID

import asyncpg
import msgspec

from services.cache.persistent import queries
from services.cache.persistent.indexing import STORE
from services.cache.persistent.queries import Named
from services.cache.persistent.schemas import (
    ForgottenObject,
    KeptObject,
    PersistentCursor,
    PersistentObject,
    PersistentObjects,
    PersistInput,
)
from services.cache.sessions.access import as_uuid
from services.cache.sessions.search.words import ObjectWords
from services.cache.sessions.transactions import Held, SessionTransactions
from shared.auth import Principal
from shared.concurrency.threads import beside
from shared.database.idempotency import Key
from shared.database.index_claims import Fresh
from shared.database.indexer import Indexer
from shared.database.postgres import Connection
from shared.deadline import Deadline
from shared.errors import Conflict, FieldError, Forbidden, NotFound
from shared.paging.pages import page_of
from shared.provenance import SourceKind, head
from shared.review.reviews import About, require_unreviewed
from shared.search.experience import decayed, reinforced
from shared.search.lexicon import Hints, indexed
from shared.text import Language
from shared.tokens import estimate_tokens

# As many as a bigint has always room for.
_DIGITS = 19
_NO_USER = "the session is with no user"
# What a tool or a file said stays its word when it is kept whole.
_SOURCES: dict[str, SourceKind] = {
    "file_context": "document",
    "external_reference": "document",
    "tool_result": "tool",
    "error_context": "tool",
}


class _Reinforced(msgspec.Struct):
    id: UUID


class PersistentService:
    def __init__(self, transactions: SessionTransactions, indexer: Indexer, model: str) -> None:
        self._transactions = transactions
        self._indexer = indexer
        self._model = model

    async def keep(
        self,
        principal: Principal,
        session: str,
        object_id: UUID,
        wanted: PersistInput,
        key: Key | None,
        deadline: Deadline,
    ) -> KeptObject:
        """Keeps an object for the session's user, or reinforces what this user has of it already, if the key may."""

        fresh: list[Fresh] = []

        async def work(c: Connection, held: Held) -> KeptObject:
            source = await queries.source(c, held.tenant, held.id, object_id)
            if source is None:
                raise NotFound(f"session {held.external_id!r} has no object {object_id}")
            where = About(f"user:{source['user_id']}", source["mission_id"], source["agent_name"])
            await require_unreviewed(c, principal, where)
            columns = _columns(principal, held.id, object_id, source, wanted)
            row = await queries.insert(c, held.tenant, columns)
            if row is None:
                return await _again(c, principal, columns)
            await self._index(c, principal, row)
            await queries.tell(c, held.tenant, "persistent_object_kept", row)
            fresh.append(Fresh(held.tenant, row["scope"], STORE, row["number"]))
            return _kept(row, row["confidence"], created=True)

        # A session that has ended can still be learned from.
        kept = await self._transactions.write(
            principal, session, KeptObject, work, key, deadline, status=201, closed=True
        )
        self._indexer.wake(fresh)
        return kept

    async def _index(self, c: Connection, principal: Principal, row: asyncpg.Record) -> None:
        words = await beside(
            len(row["content"]), _words, row["content"], row["object_type"], principal.language or "en"
        )
        await queries.index(c, principal.tenant, row["id"], words, self._model)

    async def get(self, principal: Principal, named: str, deadline: Deadline) -> PersistentObject:
        """Raises NotFound for one of a user whom the key does not reach."""
        row = await self._transactions.database.run(
            principal.tenant,
            lambda c: queries.find(c, principal.tenant, _named(named), principal.seen_users()),
            deadline,
        )
        return PersistentObject.from_row(_known(row, named))

    async def list_objects(
        self, principal: Principal, user_id: str, cursor: str | None, limit: int, deadline: Deadline
    ) -> PersistentObjects:
        principal.require_user(user_id)
        last = PersistentCursor.read(cursor)
        rows = await self._transactions.database.run(
            principal.tenant,
            lambda c: queries.list_objects(
                c, principal.tenant, user_id, None if last is None else last.number, limit + 1
            ),
            deadline,
        )
        page = page_of(rows, limit, lambda row: PersistentCursor(number=row["number"]))
        return PersistentObjects([PersistentObject.from_row(row) for row in page.rows], page.next)

    async def reinforce(
        self, principal: Principal, named: str, key: Key | None, deadline: Deadline
    ) -> PersistentObject:
        """Raises Forbidden for one that the key may not change."""
        stored = await self.get(principal, named, deadline)

        async def work(c: Connection) -> _Reinforced:
            row = await _hold_own(c, principal, named)
            return _Reinforced((await _reinforce(c, principal.tenant, row))["id"])

        if key is not None:
            key = key.about([stored.agent_name], [stored.user_id])
        scope = f"user:{stored.user_id}"
        await self._transactions.once(principal.tenant, scope, _Reinforced, work, key, deadline, status=200)
        return await self.get(principal, named, deadline)

    async def forget(self, principal: Principal, named: str, deadline: Deadline) -> ForgottenObject:
        async def work(c: Connection) -> ForgottenObject:
            row = await _hold_own(c, principal, named)
            await queries.delete(c, principal.tenant, row["id"])
            await queries.tell(c, principal.tenant, "persistent_object_forgotten", row)
            return ForgottenObject(row["id"])

        return await self._transactions.run(principal.tenant, work, deadline)


def _columns(
    principal: Principal, session_id: UUID, object_id: UUID, source: asyncpg.Record, wanted: PersistInput
) -> dict[str, object]:
    """Raises Conflict for a session without a user."""
    if source["user_id"] is None:
        error = FieldError(field="user_id", message=_NO_USER)
        raise Conflict(f"{_NO_USER}, so there is nobody to keep it for", errors=[error])
    content: str = source["content_full"] if wanted.content is None else wanted.content
    in_its_own_words = wanted.content is not None and wanted.content != source["content_full"]
    return {
        "user_id": source["user_id"],
        "source_object_id": str(object_id),
        "source_session_id": str(session_id),
        "object_type": source["object_type"],
        "content": content,
        "agent_name": source["agent_name"],
        "source_kind": "agent" if in_its_own_words else _SOURCES.get(source["object_type"], "agent"),
        "written_by": principal.key,
        "token_count": estimate_tokens(content),
    }


def _kept(row: asyncpg.Record, confidence: float, *, created: bool) -> KeptObject:
    return KeptObject(row["id"], created, round(confidence, 4), row["reinforcements"])


async def _again(c: Connection, principal: Principal, columns: dict[str, object]) -> KeptObject:
    """Reinforces what the user has of this content, if the key may. Raises Conflict where another request forgets it
    now."""
    row = await queries.hold_same(c, principal.tenant, str(columns["user_id"]), str(columns["content"]))
    if row is None:
        raise Conflict("another request forgot the same object meanwhile: send it again")
    try:
        _require_own(principal, row)
    except Forbidden:
        return _kept(row, _left(row), created=False)
    row = await _reinforce(c, principal.tenant, row)
    return _kept(row, row["confidence"], created=False)


async def _reinforce(c: Connection, tenant: str, held: asyncpg.Record) -> asyncpg.Record:
    row = await queries.reinforce(c, tenant, held["id"], reinforced(_left(held)))
    await queries.tell(c, tenant, "persistent_object_reinforced", row)
    return row


def _left(held: asyncpg.Record) -> float:
    """The confidence now."""
    return decayed(held["confidence"], held["last_reinforced"], held["now"])


async def _hold_own(c: Connection, principal: Principal, named: str) -> asyncpg.Record:
    """One that the principal may change, until the transaction ends. Raises NotFound, Forbidden."""
    row = await queries.hold(c, principal.tenant, _named(named), principal.seen_users())
    row = _known(row, named)
    _require_own(principal, row)
    return row


def _require_own(principal: Principal, row: asyncpg.Record) -> None:
    """Raises Forbidden for what the principal may not change."""
    principal.require_author(row["agent_name"])
    if row["written_by"] != principal.key and principal.changes_only_its_own(row["scope"]):
        raise Forbidden("this key changes only what is kept for its users, or what it kept")


def _known(row: asyncpg.Record | None, named: str) -> asyncpg.Record:
    if row is None:
        raise NotFound(f"no persistent object {named!r}")
    return row


def _named(text: str) -> Named:
    number = int(text) if text.isascii() and text.isdigit() and len(text) < _DIGITS else None
    return Named(None if number is not None else as_uuid(text), number)


def _words(text: str, object_type: str, likely: Language) -> ObjectWords:
    found = indexed(text, Hints(likely=likely))
    said = head(None, None, object_type.replace("_", " "))
    return ObjectWords(**msgspec.structs.asdict(found), head=said)
