"""The queue over all owners, decisions, and the rules that writes wait."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from services.context import stores
from services.context.forwarding.owners import Owner
from services.context.review import queries
from services.context.review.schemas import (
    DecisionInput,
    DecisionTaken,
    QueueCursor,
    ReviewedItem,
    ReviewItem,
    ReviewQueue,
    ReviewRule,
    ReviewRuleInput,
    ReviewRules,
    RuleCursor,
)
from services.context.stores import OwnerName
from shared.auth import Principal
from shared.database import audit
from shared.database.audit import Action, Deed
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.errors import Invalid, NotFound
from shared.paging.pages import page_of
from shared.review.schemas import Candidate, Decided, DecideRequest, QueuePart, QueueRequest, Reason, Shown


class Part(NamedTuple):
    """A part of the queue: what one owner holds of one reason. `store` is None for writes that wait."""

    reason: Reason
    owner: OwnerName
    store: str | None = None


QUEUE = (
    Part("waiting", "cache"),
    Part("waiting", "agent_memory"),
    Part("near_duplicate", "agent_memory", "agent_memory"),
    Part("disputed", "agent_memory", "facts"),
    Part("low_trust", "cache", "psychic_cache"),
    Part("low_trust", "agent_memory", "agent_memory"),
    Part("low_trust", "agent_memory", "memory"),
    Part("low_trust", "agent_memory", "facts"),
    Part("derived", "cache", "psychic_cache"),
    Part("derived", "agent_memory", "agent_memory"),
    Part("derived", "agent_memory", "memory"),
    Part("derived", "agent_memory", "facts"),
)
_SOURCES: Mapping[str, stores.Owned] = {
    "psychic_cache": stores.CACHE,
    "agent_memory": stores.PEERS,
    "memory": stores.LONG_TERM,
    "facts": stores.FACTS,
}
_STORES = {source.prefix: name for name, source in _SOURCES.items()} | {stores.OWN.prefix: "agent_memory"}
_MOST_CALLS = 2 * len(QUEUE)
_MOST_ITEMS = 100


class QueueFilter(NamedTuple):
    kind: Reason | None
    mission: str | None
    agent: str | None


class Review:
    def __init__(self, database: Database, owners: Mapping[str, Owner]) -> None:
        self._database = database
        self._owners = owners

    async def queue(
        self,
        principal: Principal,
        wanted: QueueFilter,
        cursor: str | None,
        limit: int,
        deadline: Deadline,
        request_id: str,
    ) -> ReviewQueue:
        """Asks one part after the other, as often as a page needs, within half of the time."""
        principal.require_agent(wanted.agent)
        if wanted.mission is not None:
            principal.require_mission(wanted.mission)
        position: QueueCursor | None = QueueCursor.read(cursor) or QueueCursor(part=0)
        items: list[ReviewItem] = []
        enough = deadline.left() / 2
        for _ in range(_MOST_CALLS):
            if position is None or len(items) >= limit or deadline.left() < enough:
                break
            position = _next(position, wanted.kind)
            if position is None:
                break
            part = QUEUE[position.part]
            request = QueueRequest(
                reason=part.reason,
                store=part.store,
                mission=wanted.mission,
                agent=wanted.agent,
                before=position.before,
                limit=min(limit - len(items), _MOST_ITEMS),
            )
            found = await self._ask(part.owner, "", request, QueuePart, principal, deadline, request_id)
            items += [_item(part.reason, candidate) for candidate in found.items]
            on = found.before is not None
            position = QueueCursor(part=position.part + (not on), before=found.before)
        position = None if position is None else _next(position, wanted.kind)
        return ReviewQueue(items, None if position is None else position.text())

    async def decide(
        self, principal: Principal, given: DecisionInput, deadline: Deadline, request_id: str
    ) -> DecisionTaken:
        """Raises Forbidden for a key that is bound to an agent: no agent approves what it wrote."""
        principal.require_every_agent()
        prefix, item_id = _parsed(given.handle)
        store = _STORES[prefix]
        into = None
        if given.into is not None:
            other, into = _parsed(given.into)
            if _STORES[other] != store:
                raise Invalid.field("into", "must be an item of the same store")
        request = DecideRequest(
            store=store, id=item_id, decision=given.decision, into=into, content=given.content
        )
        owner = _SOURCES[store].owner
        done = await self._ask(owner, "/decide", request, Decided, principal, deadline, request_id)
        item = None if done.item_id is None else f"{prefix}:{done.item_id}"
        return DecisionTaken(given.handle, done.state, item, done.decided_by, done.decided_at)

    async def _ask(
        self,
        owner: OwnerName,
        path: str,
        request: msgspec.Struct,
        kind: Any,
        principal: Principal,
        deadline: Deadline,
        request_id: str,
    ) -> Any:
        answer = await self._owners[owner].ask(
            "POST",
            f"/internal/review{path}",
            principal,
            deadline,
            request_id,
            body=msgspec.json.encode(request),
        )
        return msgspec.convert(answer, kind)

    async def rules(
        self, principal: Principal, cursor: str | None, limit: int, deadline: Deadline
    ) -> ReviewRules:
        principal.require_unbounded()
        position = RuleCursor.read(cursor)
        after = None if position is None else position.scope
        rows = await self._database.run(
            principal.tenant,
            lambda c: queries.rules(c, principal.tenant, after=after, limit=limit + 1),
            deadline,
        )
        page = page_of(rows, limit, lambda row: RuleCursor(scope=row["scope"]))
        return ReviewRules([ReviewRule(**dict(row)) for row in page.rows], page.next)

    async def set_rule(self, principal: Principal, given: ReviewRuleInput, deadline: Deadline) -> ReviewRule:
        """Setting it again changes nothing, and is recorded."""
        principal.require_unbounded()
        scope = _scope_of(given)

        async def work(c: Connection) -> ReviewRule:
            new = await queries.set_rule(c, principal, scope, given.mission_id, given.agent_name)
            await _record(c, principal, "review_rule_set", scope, before=not new, after=True)
            row = await queries.rule(c, principal.tenant, scope)
            if row is None:  # another request removed it meanwhile
                raise NotFound(f"no rule of {scope}")
            return ReviewRule(**dict(row))

        return await self._database.transaction(principal.tenant, work, deadline)

    async def reset_rule(self, principal: Principal, given: ReviewRuleInput, deadline: Deadline) -> None:
        """What waits goes on waiting."""
        principal.require_unbounded()
        scope = _scope_of(given)

        async def work(c: Connection) -> None:
            was = await queries.reset_rule(c, principal, scope, given.mission_id, given.agent_name)
            await _record(c, principal, "review_rule_reset", scope, before=was, after=False)

        await self._database.transaction(principal.tenant, work, deadline)


def _next(position: QueueCursor, kind: Reason | None) -> QueueCursor | None:
    """The same position, or the beginning of the next part of this kind; None behind the last."""
    for number in range(position.part, len(QUEUE)):
        if kind in (None, QUEUE[number].reason):
            return position if number == position.part else QueueCursor(part=number)
    return None


def _item(reason: Reason, found: Candidate) -> ReviewItem:
    other = None if found.other is None else ReviewedItem(**_shown(found.other))
    return ReviewItem(**_shown(found), kind=reason, rules=found.rules, other=other, distance=found.distance)


def _shown(item: Shown) -> dict[str, Any]:
    fields = {name: getattr(item, name) for name in Shown.__struct_fields__ if name not in ("store", "id")}
    return {**fields, "handle": f"{_SOURCES[item.store].prefix}:{item.id}"}


def _parsed(handle: str) -> tuple[str, int]:
    prefix, _, number = handle.partition(":")
    return prefix, int(number)


def _scope_of(given: ReviewRuleInput) -> str:
    if given.mission_id is not None:
        return f"mission:{given.mission_id}"
    return f"agent:{given.agent_name}"


async def _record(
    c: Connection, principal: Principal, action: Action, scope: str, *, before: bool, after: bool
) -> None:
    deed = Deed(action=action, target=scope, before={"required": before}, after={"required": after})
    await audit.record(c, principal, deed)
