"""The rules for managing webhooks: a key manages only those of its tenant within its own bounds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec

from services.context.webhooks import audit, queries, signing
from services.context.webhooks.schemas import (
    Deliveries,
    Delivery,
    DeliveryCursor,
    DeliveryStatus,
    MadeWebhook,
    Names,
    Redelivered,
    RedeliverInput,
    RotateSecret,
    Tested,
    Webhook,
    WebhookChange,
    WebhookCursor,
    WebhookInput,
    Webhooks,
)
from services.context.webhooks.sending import Sender
from services.context.webhooks.sharing import Shares
from shared.addresses import Reach, url_problem
from shared.auth import Principal
from shared.database.idempotency import Key, Records
from shared.database.postgres import Connection, Database
from shared.deadline import Deadline
from shared.errors import Conflict, Invalid, NotFound, TooMany
from shared.paging.pages import page_of

_SCOPE = "webhooks"
MOST = 50
_AGAIN_AT_ONCE = 1_000
# Tests of all tenants that a replica sends at once, and of one.
_TESTS, _TESTS_OF_TENANT = 16, 2
_FILTERS = ("url", "description", "kinds", "missions", "agents")


class _Kept(msgspec.Struct):
    """Of the first answer, what moves while the webhook sends: a repeat answers the same."""

    id: int
    position: int | None = None
    """None in a record of the release before, which kept the id alone."""
    waiting: int = 0
    dead: int = 0

    @classmethod
    def of(cls, webhook: Webhook) -> _Kept:
        return cls(webhook.id, webhook.position, webhook.waiting, webhook.dead)

    def again(self, webhook: Webhook) -> Webhook:
        if self.position is None:
            return webhook
        return msgspec.structs.replace(webhook, position=self.position, waiting=self.waiting, dead=self.dead)


class WebhookService:
    def __init__(self, database: Database, records: Records, sender: Sender, reach: Reach) -> None:
        self._database = database
        self._records = records
        self._sender = sender
        self._reach = reach
        self._tests = Shares(_TESTS, _TESTS_OF_TENANT)

    async def make(
        self, principal: Principal, given: WebhookInput, key: Key | None, deadline: Deadline
    ) -> MadeWebhook:
        """Raises Forbidden for a mission or an agent beyond the key's bounds, Conflict when there are too many."""
        self._require(principal, given.url, given.missions, given.agents)
        secret = signing.new_secret()

        async def write(c: Connection) -> Webhook:
            if await queries.count(c, principal.tenant) >= MOST:
                raise Conflict(f"a tenant has {MOST} webhooks at most: delete one first")
            made = await _get(c, principal, await queries.add(c, principal, given, secret))
            await audit.record(c, principal, "webhook_make", made)
            return made

        about = None if key is None else key.about(given.agents or (), (), given.missions or ())
        return await self._once(principal, about, write, secret, 201, deadline)

    async def list(
        self, principal: Principal, cursor: str | None, limit: int, deadline: Deadline
    ) -> Webhooks:
        position = WebhookCursor.read(cursor)
        after = 0 if position is None else position.id
        rows = await self._database.run(
            principal.tenant, lambda c: queries.list_webhooks(c, principal, after, limit + 1), deadline
        )
        page = page_of(rows, limit, lambda row: WebhookCursor(id=row["id"]))
        return Webhooks([_webhook(row) for row in page.rows], page.next)

    async def get(self, principal: Principal, webhook_id: int, deadline: Deadline) -> Webhook:
        return await self._database.run(principal.tenant, lambda c: _get(c, principal, webhook_id), deadline)

    async def change(
        self, principal: Principal, webhook_id: int, given: WebhookChange, deadline: Deadline
    ) -> Webhook:
        async def work(c: Connection) -> Webhook:
            known = await _locked(c, principal, webhook_id)
            fields = msgspec.structs.asdict(given)
            new = {
                name: getattr(known, name) if fields[name] is msgspec.UNSET else fields[name]
                for name in _FILTERS
            }
            self._require(principal, new["url"], new["missions"], new["agents"])
            await queries.change(c, principal.tenant, webhook_id, **new)
            if given.status == "paused" and known.status == "active":
                await queries.pause(c, principal.tenant, webhook_id, "request")
            elif given.status == "active" and known.status == "paused":
                await queries.resume(c, principal, webhook_id)
            changed = await _get(c, principal, webhook_id)
            await audit.record(c, principal, "webhook_change", changed, known)
            return changed

        return await self._database.transaction(principal.tenant, work, deadline)

    async def rotate(
        self, principal: Principal, webhook_id: int, given: RotateSecret, key: Key | None, deadline: Deadline
    ) -> MadeWebhook:
        secret = signing.new_secret()

        async def write(c: Connection) -> Webhook:
            known = await _locked(c, principal, webhook_id)
            await queries.rotate(c, principal.tenant, webhook_id, secret, given.overlap_seconds)
            await audit.record(c, principal, "webhook_rotate", known)
            return await _get(c, principal, webhook_id)

        return await self._once(principal, key, write, secret, 200, deadline)

    async def delete(self, principal: Principal, webhook_id: int, deadline: Deadline) -> None:
        """With what waits and what was delivered. Raises NotFound."""

        async def work(c: Connection) -> None:
            known = await _locked(c, principal, webhook_id)
            await queries.delete(c, principal.tenant, webhook_id)
            await audit.record(c, principal, "webhook_delete", known)

        await self._database.transaction(principal.tenant, work, deadline)

    async def deliveries(
        self,
        principal: Principal,
        webhook_id: int,
        status: DeliveryStatus | None,
        cursor: str | None,
        limit: int,
        deadline: Deadline,
    ) -> Deliveries:
        position = DeliveryCursor.read(cursor)
        before = None if position is None else position.seq

        async def work(c: Connection) -> list[queries.Row]:
            await _get(c, principal, webhook_id)
            return await queries.deliveries(c, principal.tenant, webhook_id, before, status, limit + 1)

        rows = await self._database.run(principal.tenant, work, deadline)
        page = page_of(rows, limit, lambda row: DeliveryCursor(seq=row["seq"]))
        return Deliveries([_delivery(principal.tenant, row) for row in page.rows], page.next)

    async def redeliver(
        self, principal: Principal, webhook_id: int, given: RedeliverInput, deadline: Deadline
    ) -> Redelivered:
        """Raises NotFound for an event that is not settled."""

        async def work(c: Connection) -> int:
            known = await _locked(c, principal, webhook_id)
            count = await queries.again(c, principal.tenant, webhook_id, given.seq, _AGAIN_AT_ONCE)
            if not count and given.seq is not None:
                raise NotFound(f"no event {given.seq} was delivered or given up")
            await audit.record(c, principal, "webhook_redeliver", known, count=count)
            return count

        return Redelivered(await self._database.transaction(principal.tenant, work, deadline))

    async def test(self, principal: Principal, webhook_id: int, deadline: Deadline) -> Tested:
        """Raises TooMany while others are being tested. Holds no connection while it sends."""

        async def work(c: Connection) -> queries.Row | None:
            known = await _get(c, principal, webhook_id)
            await audit.record(c, principal, "webhook_test", known)
            return await queries.secrets(c, principal.tenant, webhook_id)

        found = await self._database.transaction(principal.tenant, work, deadline)
        if found is None:
            raise _unknown(webhook_id)
        if not self._tests.room(principal.tenant):
            raise TooMany("other webhooks are being tested", retry_after=1, limit="tests of webhooks")
        self._tests.take(principal.tenant)
        try:
            message = signing.test_message(found["now"])
            keys = [key for key in (found["secret"], found["old_secret"]) if key is not None]
            outcome = await self._sender.send(principal.tenant, found["url"], message, keys)
        finally:
            self._tests.give(principal.tenant)
        return Tested(outcome.delivered, message.id, outcome.http_status, outcome.error)

    async def _once(
        self,
        principal: Principal,
        key: Key | None,
        write: Callable[[Connection], Awaitable[Webhook]],
        secret: bytes,
        status: int,
        deadline: Deadline,
    ) -> MadeWebhook:
        written: Webhook | None = None

        async def first(c: Connection) -> _Kept:
            nonlocal written
            written = await write(c)
            return _Kept.of(written)

        async def work(c: Connection) -> Webhook:
            if key is None:
                done = await first(c)
            else:
                done = await self._records.once(
                    c, principal.tenant, _SCOPE, key, _Kept, lambda: first(c), status
                )
            return written or done.again(await _get(c, principal, done.id))

        webhook = await self._database.transaction(principal.tenant, work, deadline)
        return MadeWebhook(webhook, signing.shown(secret) if written else None)

    def _require(self, principal: Principal, url: str, missions: Names | None, agents: Names | None) -> None:
        """Raises Forbidden or Invalid."""
        for agent in agents or ():
            principal.require_agent(agent)
        for mission in missions or ():
            principal.require_mission(mission)
        if (problem := url_problem(url, self._reach)) is not None:
            raise Invalid.field("url", problem)


async def _get(c: Connection, principal: Principal, webhook_id: int) -> Webhook:
    row = await queries.get(c, principal, webhook_id)
    if row is None:
        raise _unknown(webhook_id)
    return _webhook(row)


async def _locked(c: Connection, principal: Principal, webhook_id: int) -> Webhook:
    if not await queries.lock(c, principal, webhook_id):
        raise _unknown(webhook_id)
    return await _get(c, principal, webhook_id)


def _unknown(webhook_id: int) -> NotFound:
    return NotFound(f"no webhook {webhook_id}")


def _webhook(row: queries.Row) -> Webhook:
    return Webhook(**{name: row[name] for name in Webhook.__struct_fields__})


def _delivery(tenant: str, row: queries.Row) -> Delivery:
    return Delivery(event_id=signing.event_id(tenant, row["seq"]), **dict(row))
