"""Erases a tenant from every service, in small transactions, and finishes what an interruption left."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Mapping

import structlog

from services.context.assembly.config import CallerConfigs
from services.context.forwarding.owners import Owner
from services.context.keys.limits import Rates
from services.context.keys.verification import KNOWN_SECONDS, REACH, Keys
from services.context.log.journal import Journal
from services.context.purge import queries_tenants as queries
from services.context.purge.schemas import PurgeInput, Receipt
from shared.auth import Principal
from shared.concurrency.tasks import every
from shared.database.erasure import ROWS_AT_ONCE, SLACK_SECONDS
from shared.database.postgres import EVERY_TENANT, Connection, Database
from shared.deadline import WRITE_SECONDS, Deadline
from shared.errors import Forbidden, Invalid, Unavailable

log = structlog.get_logger()

SECONDS = 60.0
"""The longest that a request waits. The purge of a large tenant goes on without it."""
_STEP_SECONDS = 10.0
_INTERRUPTED_SECONDS = 15.0
_LOOK_SECONDS = 5.0
_PAUSE_SECONDS = 0.2
_SETTLED_SECONDS = KNOWN_SECONDS + WRITE_SECONDS + SLACK_SECONDS

_Erase = Callable[[Deadline], Awaitable[dict[str, int]]]


class TenantPurge:
    def __init__(
        self,
        database: Database,
        journal: Journal,
        owners: Mapping[str, Owner],
        keys: Keys,
        rates: Rates,
        configs: CallerConfigs,
    ) -> None:
        self._database = database
        self._journal = journal
        self._owners = owners
        self._keys = keys
        self._rates = rates
        self._configs = configs

    async def purge(self, principal: Principal, request: PurgeInput, request_id: str) -> Receipt:
        """Raises Forbidden, or Unavailable when the time does not suffice: the purge goes on then."""
        tenant = _granted(principal, request)
        try:
            async with asyncio.timeout(SECONDS):
                return await self._run(tenant, principal.key, request_id)
        except TimeoutError as error:
            raise Unavailable("purge", "the tenant is large: its purge goes on", retry_after=30) from error

    async def finish_forever(self) -> None:
        await every(_LOOK_SECONDS, "finishing purges of tenants", self._finish)

    async def _finish(self) -> None:
        found = await self._database.run(
            EVERY_TENANT, lambda c: queries.interrupted(c, _INTERRUPTED_SECONDS), Deadline(_STEP_SECONDS)
        )
        for purge in found:
            log.info("finishing the purge of a tenant")
            await self._run(purge.tenant, purge.actor, None)

    async def _run(self, tenant: str, actor: str, request_id: str | None) -> Receipt:
        seconds = await self._database.transaction(
            tenant, lambda c: queries.begin(c, tenant, actor, request_id), Deadline(_STEP_SECONDS)
        )
        self._keys.forget()
        # Until then other replicas may accept the revoked keys, and complete the writes that they began.
        await asyncio.sleep(max(0.0, _SETTLED_SECONDS - seconds))
        await self._journal.written(Deadline(_STEP_SECONDS))
        principal = Principal(tenant, actor, REACH["admin"])
        for service, erase in self._services(principal).items():
            await self._erase_all(tenant, service, erase)
        erased = await self._end(tenant)
        return Receipt("tenant", erased)

    def _services(self, principal: Principal) -> dict[str, _Erase]:
        def at(owner: Owner) -> _Erase:
            return lambda deadline: owner.purge_tenant(principal, deadline, secrets.token_hex(8))

        async def here(deadline: Deadline) -> dict[str, int]:
            return await self._database.transaction(
                principal.tenant, lambda c: queries.erase(c, principal.tenant, ROWS_AT_ONCE), deadline
            )

        return {**{name: at(owner) for name, owner in self._owners.items()}, "context": here}

    async def _erase_all(self, tenant: str, service: str, erase: _Erase) -> None:
        """Repeats until the service holds nothing, also after a conflict with another transaction."""
        while True:
            try:
                erased = await erase(Deadline(_STEP_SECONDS))
            except Unavailable as error:
                log.info("a part of a tenant's purge waits", service=service, error=error.detail)
                await asyncio.sleep(_PAUSE_SECONDS)
                continue
            await self._database.run(
                tenant,
                lambda c, counts=erased: queries.count(c, tenant, service, counts),  # type: ignore[misc]
                Deadline(_STEP_SECONDS),
            )
            if not any(erased.values()):
                return

    async def _end(self, tenant: str) -> dict[str, dict[str, int]]:
        """The keys go last, with what their use left meanwhile."""

        async def work(connection: Connection) -> list[int]:
            ids = await queries.erase_keys(connection, tenant)
            await queries.erase(connection, tenant, ROWS_AT_ONCE)
            await queries.count(connection, tenant, "context", {"api_keys": len(ids)})
            return ids

        ids = await self._database.transaction(tenant, work, Deadline(_STEP_SECONDS))
        await self._rates.forget(f"{tenant}:key:{id_}" for id_ in ids)
        erased = await self._database.transaction(
            tenant, lambda c: queries.end(c, tenant), Deadline(_STEP_SECONDS)
        )
        self._keys.forget()
        self._configs.forget(tenant)
        return erased or {}


def _granted(principal: Principal, request: PurgeInput) -> str:
    """The tenant to erase. Raises Forbidden."""
    tenant = request.tenant or principal.tenant
    if tenant != principal.tenant and not principal.of_environment:
        raise Forbidden("only an admin token of the environment erases another tenant")
    principal.require_unbounded()
    if request.confirm != tenant:
        raise Invalid.field("confirm", "is not the name of the tenant")
    return tenant
