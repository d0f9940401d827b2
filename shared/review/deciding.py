"""Decides about what waits and about stored items: the owner's transaction does all of it or nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol, TypeAlias

import asyncpg

from shared.auth import Principal
from shared.database import audit
from shared.database.audit import Deed
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.errors import Conflict, Invalid, NotFound
from shared.review.reviews import About, Reviews, writer_of
from shared.review.schemas import STATES, Candidate, Decided, DecideRequest, QueuePart, QueueRequest

Change: TypeAlias = Callable[[Connection], Awaitable[int | None]]
"""Runs in the transaction of the decision. Returns the item that holds the text now."""


class ReviewedStore(Protocol):
    """What a store does for reviewers. The methods that answer a Change prepare what needs no connection."""

    async def admit(
        self, writer: Principal, body: Any, about: About, content: str | None, deadline: Deadline
    ) -> Change:
        """Writes what waited, as its writer would have, with another text if `content` is given."""
        ...

    async def join(self, writer: Principal, body: Any, about: About, into: int, deadline: Deadline) -> Change:
        """Lets what waited confirm another item."""
        ...

    async def about(self, c: Connection, principal: Principal, item_id: int) -> About:
        """Raises NotFound or Forbidden for an item that the key may not change."""
        ...

    async def edit(self, principal: Principal, item_id: int, content: str, deadline: Deadline) -> Change: ...

    async def merge(self, principal: Principal, item_id: int, into: int, deadline: Deadline) -> Change: ...

    async def forget(self, principal: Principal, item_id: int, deadline: Deadline) -> Change: ...

    async def queue(
        self, c: Connection, principal: Principal, request: QueueRequest
    ) -> tuple[list[Candidate], int | None]:
        """What stands in the queue for one of the reasons that concern stored items, and where to go on."""
        ...


class Deciding:
    def __init__(
        self,
        database: Database,
        reviews: Reviews,
        stores: Mapping[str, ReviewedStore],
        announce: Callable[[str], None],
    ) -> None:
        """`announce` tells that a transaction of the tenant is done."""
        self._database = database
        self._reviews = reviews
        self._stores = stores
        self._announce = announce

    async def queue(self, principal: Principal, request: QueueRequest, deadline: Deadline) -> QueuePart:
        if request.reason == "waiting":
            return await self._waiting(principal, request, deadline)
        store = self._store(request.store or "")
        items, before = await self._database.run(
            principal.tenant, lambda c: store.queue(c, principal, request), deadline
        )
        return QueuePart(items, before)

    async def _waiting(self, principal: Principal, request: QueueRequest, deadline: Deadline) -> QueuePart:
        found = await self._database.run(
            principal.tenant,
            lambda c: self._reviews.waiting(
                c, principal, request.agent, request.mission, request.before, request.limit + 1
            ),
            deadline,
        )
        items = found[: request.limit]
        return QueuePart(items, items[-1].id if len(found) > request.limit else None)

    async def decide(self, principal: Principal, request: DecideRequest, deadline: Deadline) -> Decided:
        """The same decision again answers what was decided. Raises Conflict for another one."""
        store = self._store(request.store)
        decide = self._of_waiting if request.id < 0 else self._of_stored
        decided = await decide(principal, store, request, deadline)
        self._announce(principal.tenant)
        return decided

    def _store(self, name: str) -> ReviewedStore:
        if name not in self._stores:
            raise NotFound(f"nothing of the store {name!r} is reviewed")
        return self._stores[name]

    async def _of_waiting(
        self, principal: Principal, store: ReviewedStore, request: DecideRequest, deadline: Deadline
    ) -> Decided:
        tenant = principal.tenant

        async def find(c: Connection) -> asyncpg.Record:
            row = await self._reviews.find(c, principal, request.id)
            if row is None or row["store"] != request.store:
                raise NotFound(f"nothing waits as {request.id}")
            return row

        found = await self._database.run(tenant, find, deadline)
        if found["state"] != "waiting":
            return _again(found, request)
        change = await _change_of_waiting(store, found, request, deadline)

        async def work(c: Connection) -> Decided:
            if not await self._reviews.hold(c, tenant, request.id):
                return _again(await find(c), request)
            item_id = await change(c)
            row = await self._reviews.settle(c, principal, request.id, STATES[request.decision], item_id)
            await _record(c, principal, request, _about(found))
            return Decided(**dict(row))

        return await self._database.transaction(tenant, work, deadline)

    async def _of_stored(
        self, principal: Principal, store: ReviewedStore, request: DecideRequest, deadline: Deadline
    ) -> Decided:
        tenant = principal.tenant
        marked = await self._database.run(
            tenant, lambda c: self._reviews.marked(c, principal, request.store, request.id), deadline
        )
        if marked is not None and marked["state"] in _FINAL:
            return _again(marked, request)
        if marked is not None and request.decision == "approve" and marked["state"] == "approved":
            return _again(marked, request)
        change = await _change_of_stored(store, principal, request, deadline)

        async def work(c: Connection) -> Decided:
            about = await store.about(c, principal, request.id)
            item_id = await change(c)
            state = STATES[request.decision]
            row = await self._reviews.mark(c, principal, request.store, request.id, about, state, item_id)
            await _record(c, principal, request, about)
            return Decided(**dict(row))

        return await self._database.transaction(tenant, work, deadline)


_FINAL = ("forgotten", "merged")


async def _change_of_waiting(
    store: ReviewedStore, row: asyncpg.Record, request: DecideRequest, deadline: Deadline
) -> Change:
    writer, body = writer_of(row), row["body"]
    if request.decision == "forget":
        return _nothing
    if request.decision == "merge":
        return await store.join(writer, body, _about(row), _into(request), deadline)
    content = _content(request) if request.decision == "edit" else None
    return await store.admit(writer, body, _about(row), content, deadline)


async def _change_of_stored(
    store: ReviewedStore, principal: Principal, request: DecideRequest, deadline: Deadline
) -> Change:
    if request.decision == "forget":
        return await store.forget(principal, request.id, deadline)
    if request.decision == "merge":
        return await store.merge(principal, request.id, _into(request), deadline)
    if request.decision == "edit":
        return await store.edit(principal, request.id, _content(request), deadline)

    async def stays(_: Connection) -> int:
        return request.id

    return stays


async def _nothing(_: Connection) -> None: ...


def _into(request: DecideRequest) -> int:
    if request.into is None or request.into <= 0:
        raise Invalid.field("into", "must be the handle of a stored item of the same store")
    if request.into == request.id:
        raise Invalid.field("into", "is the item itself")
    return request.into


def _content(request: DecideRequest) -> str:
    if request.content is None:
        raise Invalid.field("content", "an edit needs the new text")
    return request.content


def _about(row: asyncpg.Record) -> About:
    return About(row["scope"], row["mission_id"], row["agent_name"], row["user_id"])


def _again(row: asyncpg.Record, request: DecideRequest) -> Decided:
    """What was decided, if it is asked for again."""
    if row["state"] != STATES[request.decision]:
        raise Conflict(f"it was {row['state']} already", state=row["state"], item_id=row["item_id"])
    return Decided(row["state"], row["item_id"], row["decided_by"], row["decided_at"])


async def _record(c: Connection, principal: Principal, request: DecideRequest, about: About) -> None:
    after = {"store": request.store, "id": request.id, "decision": request.decision}
    if request.into is not None:
        after["into"] = request.into
    await audit.record(
        c,
        principal,
        Deed(action="review_decide", target=about.scope, subjects=about.subjects, after=after),
    )
