"""The rules for managing keys: a key manages only keys of its tenant within its own bounds."""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable

import msgspec

from services.context.keys import audit, queries
from services.context.keys.grants import Holder, narrowed, require_within
from services.context.keys.schemas import (
    ApiKey,
    ApiKeys,
    KeyChange,
    KeyCursor,
    KeyInput,
    Limits,
    MadeKey,
    RotateInput,
)
from services.context.keys.verification import PREFIX, REACH, Keys, hash_token
from shared.auth import Access, Principal
from shared.database.erasure import ERASED
from shared.database.idempotency import Key, Records
from shared.database.postgres import EVERY_TENANT, Connection, Database
from shared.deadline import Deadline
from shared.errors import Conflict, Forbidden, Invalid, NotFound, Unauthorized
from shared.paging.pages import page_of
from shared.provenance import utc

_SCOPE = "keys"
# Each request of a key looks at all that it descends from.
MOST_GENERATIONS = 8
# In bytes. The names stand, in base64, in a header of each request to an owner, whose head may take 64 KB.
_MOST_NAMES = 40_000


class _Id(msgspec.Struct):
    """The record of a call with an Idempotency-Key."""

    id: int


class KeyService:
    """Calls `ring` with the tenant after each commit. A new key ends after `ttl_days`, unless its maker says when."""

    def __init__(
        self,
        database: Database,
        keys: Keys,
        records: Records,
        ring: Callable[[str], None] = lambda _: None,
        ttl_days: float | None = None,
    ) -> None:
        self._database = database
        self._keys = keys
        self._records = records
        self._ring = ring
        self._ttl_days = ttl_days

    async def make(
        self, principal: Principal, given: KeyInput, key: Key | None, deadline: Deadline
    ) -> MadeKey:
        """Raises Forbidden when it would hold more than the key that makes it, or be of another tenant's."""
        tenant = _tenant_of(principal, given)
        token = _new_token()
        given.expires_at = utc(given.expires_at, "expires_at")
        _require_short(given)

        async def write(connection: Connection) -> int:
            own = narrowed(await self._holder(connection, principal), given)
            if await queries.generations(connection, principal) >= MOST_GENERATIONS:
                raise Forbidden(f"keys make keys for {MOST_GENERATIONS} generations at most")
            made = await queries.add_key(
                connection,
                tenant,
                own.name,
                hash_token(token),
                sorted(REACH[own.access]),
                own.agent,
                own.missions,
                own.users,
                own.expires_at,
                principal.key,
                Limits.of(msgspec.structs.asdict(own)),
                self._ttl_days if given.expires_at is None else None,
            )
            if made is None:
                raise Invalid.field("expires_at", "lies in the past")
            await queries.add_events(connection, tenant, [made], "key_make", principal.key)
            owner = msgspec.structs.replace(principal, tenant=tenant)
            await audit.record(connection, principal, "key_make", await _get(connection, owner, made))
            return made

        about = None if key is None else key.about([given.agent], given.users or (), given.missions or ())
        return await self._once(principal, about, write, token, 201, deadline, tenant=tenant)

    async def list(self, principal: Principal, cursor: str | None, limit: int, deadline: Deadline) -> ApiKeys:
        position = KeyCursor.read(cursor)
        after = 0 if position is None else position.id
        rows = await self._database.run(
            principal.tenant, lambda c: queries.list_keys(c, principal, after, limit + 1), deadline
        )
        page = page_of(rows, limit, lambda row: KeyCursor(id=row["id"]))
        return ApiKeys([_api_key(row) for row in page.rows], page.next)

    async def get(self, principal: Principal, key_id: int, deadline: Deadline) -> ApiKey:
        return await self._database.run(principal.tenant, lambda c: _get(c, principal, key_id), deadline)

    async def change(self, principal: Principal, key_id: int, given: KeyChange, deadline: Deadline) -> ApiKey:
        async def work(connection: Connection) -> ApiKey:
            known = await _locked(connection, principal, key_id)
            changed = {
                name: getattr(known, name) if value is msgspec.UNSET else value
                for name, value in msgspec.structs.asdict(given).items()
            }
            name, limits = changed.pop("name"), Limits.of(changed)
            holder = await self._holder(connection, principal)
            require_within(holder, holder.expires_at, limits.over(self._keys.defaults))
            await queries.change_key(connection, principal.tenant, key_id, name, limits)
            await queries.add_events(connection, principal.tenant, [key_id], "key_change", principal.key)
            new = await _get(connection, principal, key_id)
            await audit.record(connection, principal, "key_change", new, known)
            return new

        return await self._done(principal, work, deadline)

    async def rotate(
        self, principal: Principal, key_id: int, given: RotateInput, key: Key | None, deadline: Deadline
    ) -> MadeKey:
        """Makes a new secret beside the current one. Raises Conflict when the key is expired or revoked."""
        token = _new_token()

        async def write(connection: Connection) -> int:
            known = await _locked(connection, principal, key_id)
            if known.status != "active":
                raise Conflict(f"the key is {known.status}")
            limits = Limits.of(msgspec.structs.asdict(known)).over(self._keys.defaults)
            require_within(await self._holder(connection, principal), known.expires_at, limits)
            await queries.rotate_key(
                connection, principal.tenant, key_id, hash_token(token), given.overlap_seconds
            )
            await queries.add_events(connection, principal.tenant, [key_id], "key_rotate", principal.key)
            await audit.record(connection, principal, "key_rotate", known)
            return key_id

        return await self._once(principal, key, write, token, 200, deadline)

    async def revoke(self, principal: Principal, key_id: int, deadline: Deadline) -> ApiKey:
        """Revokes it with every key that it made, and that those made. Revoking them twice changes nothing."""

        async def work(connection: Connection) -> ApiKey:
            known = await _locked(connection, principal, key_id)
            revoked = await queries.revoke_family(connection, principal.tenant, key_id)
            new = await _get(connection, principal, key_id)
            if revoked:
                await queries.add_events(connection, principal.tenant, revoked, "key_revoke", principal.key)
                descended = [made for made in revoked if made != key_id]
                await audit.record(connection, principal, "key_revoke", new, known, with_it=descended)
            return new

        return await self._done(principal, work, deadline)

    async def _holder(self, connection: Connection, principal: Principal) -> Holder:
        """The calling key with its limits and expiry. Environment tokens and the command line have no bounds."""
        if not principal.key.startswith("key:"):
            return Holder(principal)
        row = await queries.find_maker(connection, principal)
        if row is None:
            raise Unauthorized("the token is not valid")
        return Holder(principal, row["expires_at"], Limits.of(row).over(self._keys.defaults))

    async def _once(
        self,
        principal: Principal,
        key: Key | None,
        write: Callable[[Connection], Awaitable[int]],
        token: str,
        status: int,
        deadline: Deadline,
        *,
        tenant: str | None = None,
    ) -> MadeKey:
        """`tenant` is the key's, where it is not the caller's own; the record of the call is the caller's."""
        owner = principal if tenant is None else msgspec.structs.replace(principal, tenant=tenant)
        written = False

        async def first(connection: Connection) -> _Id:
            nonlocal written
            written = True
            return _Id(await write(connection))

        async def work(connection: Connection) -> ApiKey:
            if key is None:
                done = await first(connection)
            else:
                done = await self._records.once(
                    connection, principal.tenant, _SCOPE, key, _Id, lambda: first(connection), status
                )
            return await _get(connection, owner, done.id)

        api_key = await self._done(owner, work, deadline)
        return MadeKey(api_key, token if written else None)

    async def _done(
        self, principal: Principal, work: Callable[[Connection], Awaitable[ApiKey]], deadline: Deadline
    ) -> ApiKey:
        # A token of the environment may make a key of another tenant, with the record of the call in its own.
        reach = EVERY_TENANT if principal.of_environment else principal.tenant
        api_key = await self._database.transaction(reach, work, deadline)
        self._keys.forget()
        self._ring(principal.tenant)
        return api_key


async def _get(connection: Connection, principal: Principal, key_id: int) -> ApiKey:
    row = await queries.get_key(connection, principal, key_id)
    if row is None:
        raise NotFound(f"no key {key_id}")
    return _api_key(row)


async def _locked(connection: Connection, principal: Principal, key_id: int) -> ApiKey:
    if not await queries.lock_key(connection, principal, key_id):
        raise NotFound(f"no key {key_id}")
    return await _get(connection, principal, key_id)


def _api_key(row: queries.Row) -> ApiKey:
    access: Access = next(level for level in ("admin", "write", "read") if level in row["access"])
    return msgspec.convert({**row, "access": access}, ApiKey)


def _require_short(given: KeyInput) -> None:
    """Raises Invalid: the names travel to the owners in one header of each request, whose head is limited."""
    names = {"missions": given.missions or [], "users": given.users or []}
    if len(msgspec.json.encode(names)) > _MOST_NAMES:
        field = max(names, key=lambda name: len(msgspec.json.encode(names[name])))
        raise Invalid.field(field, f"missions and users together may take {_MOST_NAMES:,} bytes as JSON")


def _tenant_of(principal: Principal, given: KeyInput) -> str:
    """Only who runs the installation reaches beyond a tenant."""
    if given.tenant not in (None, principal.tenant) and not principal.of_environment:
        raise Forbidden("only an admin token of the environment makes keys of another tenant")
    if given.tenant == ERASED:
        raise Invalid.field("tenant", "stands for tenants that were erased")
    return given.tenant or principal.tenant


def _new_token() -> str:
    return PREFIX + secrets.token_urlsafe(32)
