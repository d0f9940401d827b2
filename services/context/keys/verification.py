"""Verifies bearer tokens (tokens from the environment and API keys) and applies their limits."""

from __future__ import annotations

import hashlib
import math
import time
from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from typing import Any, NamedTuple

import asyncpg
from litestar import Request

from services.context.keys import queries
from services.context.keys.limits import DAY, Allowance, Rates, headers, refusal
from services.context.keys.schemas import NO_LIMITS, Limits
from services.context.keys.usage import Count, Usage
from services.context.languages.queries import language_of
from shared.auth import OF_ENVIRONMENT, Access, Principal, bearer, same_secret
from shared.database.postgres import EVERY_TENANT, Database
from shared.deadline import Deadline
from shared.errors import TooLate, Unauthorized, Unavailable
from shared.telemetry import metrics
from shared.text import Language
from shared.tokens import CHARACTERS_PER_TOKEN
from shared.web.request import deadline_of_route, when_ended

DEFAULT_TENANT = "default"
PREFIX = "sj_"
REACH: Mapping[Access, frozenset[Access]] = {
    "read": frozenset({"read"}),
    "write": frozenset({"read", "write"}),
    "admin": frozenset({"read", "write", "admin"}),
}
# Each replica trusts a verified key for this long.
KNOWN_SECONDS = 2.0
_MOST_KNOWN = 10_000
# The share of the time left for the default tenant's language.
_LANGUAGE_SHARE = 0.2


def hash_token(token: str) -> bytes:
    """A plain hash is enough, because keys are 32 random bytes."""
    return hashlib.sha256(token.encode()).digest()


class _Account(NamedTuple):
    """What a key may use and has used. A request counts for its key and for each that this one descends from."""

    key: str
    limits: Limits
    used: Count
    of_maker: bool


class _Known(NamedTuple):
    """A valid key, with its own account first. `until` and `midnight` are times of the monotonic clock."""

    principal: Principal
    accounts: tuple[_Account, ...]
    until: float
    midnight: float


class Keys:
    """Tokens from the environment have no limits. Without `rates`, keys have none either."""

    def __init__(
        self,
        database: Database,
        tokens: Mapping[Access, str],
        rates: Rates | None = None,
        defaults: Limits = NO_LIMITS,
    ) -> None:
        self._database = database
        self._tokens = tokens
        self._rates = rates
        self.defaults = defaults
        self.usage = Usage(database)
        self._known: dict[bytes, _Known] = {}
        self._tenants: dict[bytes, str] = {}
        self._default_language: Language | None = None
        self._language_until = 0.0

    async def verify(self, authorization: str | None, deadline: Deadline) -> Principal:
        """The caller, without checking limits. Raises the same Unauthorized for unknown, expired and revoked keys."""
        found = await self._find(authorization, deadline)
        return found.principal if isinstance(found, _Known) else found

    async def authenticate(self, request: Request[Any, Any, Any]) -> Principal:
        writes = request.route_handler.opt.get("access") != "read"
        return await self.admit(request.scope, deadline_of_route(request), writes=writes)

    async def admit(
        self, scope: Any, deadline: Deadline, *, writes: bool, authorization: str | None = None
    ) -> Principal:
        """The caller, if its limits allow the request. The answer's headers report what is left of them.

        `authorization` stands for the request's own. Raises Unauthorized or TooMany.
        """
        found = await self._find(authorization or _authorization(scope), deadline)
        if not isinstance(found, _Known):
            return found
        state = scope["state"]
        if any(account.limits != NO_LIMITS for account in found.accounts):
            await self._limit(found, writes, state)
        for account in found.accounts:
            account.used.new_requests += 1
        if writes:
            when_ended(scope, lambda: _count_tokens(found.accounts, state["received"]))
        return found.principal

    def last_known(self, authorization: str) -> Principal | None:
        """Whom a key stood for when it last came, for work that goes on without a database."""
        known = self._known.get(hash_token(bearer(authorization)))
        return None if known is None else known.principal

    def tenant_of(self, headers: Mapping[bytes, bytes]) -> str:
        """The tenant of a key that was valid when it last came. It only shares the service between tenants."""
        try:
            token = bearer(headers.get(b"authorization", b"").decode("latin-1"))
        except Unauthorized:
            return ""
        if token.startswith(PREFIX):
            return self._tenants.get(hash_token(token), "")
        return DEFAULT_TENANT if self._access_of(token) is not None else ""

    async def while_valid(
        self, authorization: str | None, pieces: AsyncGenerator[bytes]
    ) -> AsyncIterator[bytes]:
        """Passes on a long answer until its key is no longer valid."""
        async with aclosing(pieces):
            async for piece in pieces:
                try:
                    await self.verify(authorization, Deadline(1.0))
                except Unauthorized:
                    return
                except Unavailable:
                    pass  # an unreachable database says nothing about the key
                yield piece

    def forget(self) -> None:
        """Makes changes take effect here at once. Other replicas follow within KNOWN_SECONDS."""
        self._known.clear()
        self._language_until = 0.0

    async def _find(self, authorization: str | None, deadline: Deadline) -> Principal | _Known:
        token = bearer(authorization)
        if (access := self._access_of(token)) is not None:
            language = await self._language(deadline)
            return Principal(DEFAULT_TENANT, f"{OF_ENVIRONMENT}{access}", REACH[access], language=language)
        if token.startswith(PREFIX):
            token_hash = hash_token(token)
            known = self._known.get(token_hash)
            if known is not None and time.monotonic() < known.until:
                return known
            rows = await self._database.run(EVERY_TENANT, lambda c: queries.find_key(c, token_hash), deadline)
            if rows:
                return self._remember(token_hash, rows)
            self._known.pop(token_hash, None)
        raise Unauthorized("the token is not valid")

    async def _language(self, deadline: Deadline) -> Language | None:
        """The default tenant's. A token of the environment needs no database: without it, the last one holds."""
        now = time.monotonic()
        if now >= self._language_until:
            self._language_until = now + KNOWN_SECONDS
            soon = deadline.shorter(deadline.left() * _LANGUAGE_SHARE)
            with suppress(Unavailable, TooLate):
                self._default_language = await self._database.run(
                    DEFAULT_TENANT, lambda c: language_of(c, DEFAULT_TENANT), soon
                )
        return self._default_language

    def _access_of(self, token: str) -> Access | None:
        """Of a token of the environment."""
        for access, expected in self._tokens.items():
            if same_secret(token, expected):
                return access
        return None

    def _remember(self, token_hash: bytes, line: Sequence[asyncpg.Record]) -> _Known:
        """`line` is the key, and then those that it descends from."""
        row = line[0]
        for table in (self._known, self._tenants):
            if len(table) >= _MOST_KNOWN:
                table.clear()
        self._tenants[token_hash] = row["tenant"]
        now = time.monotonic()
        known = self._known[token_hash] = _Known(
            _principal(row),
            tuple(self._account(one, of_maker=one is not row) for one in line),
            now + min(KNOWN_SECONDS, math.inf if row["seconds"] is None else row["seconds"]),
            now + row["day_seconds"],
        )
        return known

    def _account(self, row: asyncpg.Record, *, of_maker: bool) -> _Account:
        return _Account(
            f"{row['tenant']}:key:{row['id']}",
            Limits.of(row).over(self.defaults) if self._rates is not None else NO_LIMITS,
            self.usage.seen(row["tenant"], row["id"], row["requests"], row["tokens"]),
            of_maker,
        )

    async def _limit(self, known: _Known, writes: bool, state: dict[str, Any]) -> None:
        allowances = [one for account in known.accounts for one in _quotas(account, known.midnight, writes)]
        if not any(allowance.wait for allowance in allowances):
            for account in known.accounts:
                allowances += await self._second(account)
                if allowances and allowances[-1].wait:
                    break
        state["answer_headers"] = headers(allowances)
        refused = next((allowance for allowance in allowances if allowance.wait), None)
        if refused is not None:
            metrics.RATE_LIMITED.inc()
            raise refusal(refused)

    async def _second(self, account: _Account) -> list[Allowance]:
        """Counts a request against the account's rate, if it has one."""
        rate, burst = account.limits.requests_per_second, account.limits.burst
        if rate is None or burst is None:
            return []
        assert self._rates is not None
        return [(await self._rates.take(account.key, rate, burst))._replace(of_maker=account.of_maker)]


def _quotas(account: _Account, midnight: float, writes: bool) -> Iterator[Allowance]:
    limits, used = account.limits, account.used
    left = max(0.0, midnight - time.monotonic())
    if limits.requests_per_day is not None:
        day = _quota("requests_per_day", limits.requests_per_day, used.all_requests(), left)
        yield day._replace(of_maker=account.of_maker)
    if limits.tokens_per_day is not None and writes:
        day = _quota("tokens_per_day", limits.tokens_per_day, used.all_tokens(), left)
        yield day._replace(of_maker=account.of_maker)


def _quota(name: str, limit: int, used: int, left: float) -> Allowance:
    remaining = max(0, limit - used)
    return Allowance(name, limit, limit, DAY, remaining, left, 0.0 if remaining else max(left, 1.0))


def _authorization(scope: Any) -> str | None:
    for name, value in scope["headers"]:
        if name == b"authorization":
            text: str = value.decode("latin-1")
            return text
    return None


def _count_tokens(accounts: Sequence[_Account], received: int) -> None:
    for account in accounts:
        account.used.new_tokens += -(-received // CHARACTERS_PER_TOKEN)


def _principal(row: asyncpg.Record) -> Principal:
    return Principal(
        tenant=row["tenant"],
        key=f"key:{row['id']}",
        access=frozenset(row["access"]),
        agent=row["agent_name"],
        missions=None if row["missions"] is None else frozenset(row["missions"]),
        users=None if row["users"] is None else frozenset(row["users"]),
        language=row["language"],
    )
