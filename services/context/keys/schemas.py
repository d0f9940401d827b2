from __future__ import annotations

import math
from datetime import datetime
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from shared.auth import Access, Principal
from shared.body import Body
from shared.paging.cursors import Cursor
from shared.paging.pages import Page
from shared.text import BigId, Label, Name

Status = Literal["active", "expired", "revoked"]
PerSecond = Annotated[float, Meta(gt=0, le=1_000_000)]
Burst = Annotated[int, Meta(ge=1, le=1_000_000)]
PerDay = Annotated[int, Meta(ge=1, le=2**53)]
Names = Annotated[list[Name], Meta(max_length=1_000)]
Overlap = Annotated[int, Meta(ge=0, le=30 * 86_400)]


class Limits(msgspec.Struct, frozen=True):
    """None means the installation's default, or no limit if it has none."""

    requests_per_second: float | None = None
    burst: int | None = None
    requests_per_day: int | None = None
    tokens_per_day: int | None = None

    @classmethod
    def of(cls, row: Any) -> Limits:
        return cls(*(row[name] for name in cls.__struct_fields__))

    def over(self, default: Limits) -> Limits:
        """The limits in force: the defaults where these have none, and a burst for each rate."""
        rate, burst = self.requests_per_second, self.burst
        if rate is None:
            rate, burst = default.requests_per_second, burst or default.burst
        if rate is not None and burst is None:
            burst = max(1, math.ceil(rate))
        requests = default.requests_per_day if self.requests_per_day is None else self.requests_per_day
        tokens = default.tokens_per_day if self.tokens_per_day is None else self.tokens_per_day
        return Limits(rate, burst, requests, tokens)


NO_LIMITS = Limits()


class KeyInput(Body, kw_only=True):
    """A field left out is taken from the key that makes it."""

    name: Label
    access: Access = "write"
    """`write` includes read, `admin` includes both."""
    tenant: Name | None = None
    """Another tenant than the caller's own: for an admin token of the environment only."""
    agent: Name | None = None
    """The only agent that the key may write and call as."""
    missions: Names | None = None
    users: Names | None = None
    expires_at: datetime | None = None
    """When it ends; else when the key that makes it does, or after the installation's default time."""
    requests_per_second: PerSecond | None = None
    burst: Burst | None = None
    """Requests at once, by default one second's worth."""
    requests_per_day: PerDay | None = None
    tokens_per_day: PerDay | None = None
    """Tokens of the bodies that it writes, estimated as characters / 4. Days are UTC."""


class KeyChange(Body, kw_only=True):
    """A field left out stays. Null returns a limit to the installation's default."""

    name: Label | UnsetType = UNSET
    requests_per_second: PerSecond | UnsetType | None = UNSET
    burst: Burst | UnsetType | None = UNSET
    requests_per_day: PerDay | UnsetType | None = UNSET
    tokens_per_day: PerDay | UnsetType | None = UNSET


class RotateInput(Body, kw_only=True):
    overlap_seconds: Overlap = 3_600
    """How long the current secret stays valid beside the new one."""


class ApiKey(msgspec.Struct, kw_only=True):
    id: int
    tenant: str
    name: str
    status: Status
    """Whether it is valid, and why not."""
    access: Access
    agent: str | None
    """The agent that it acts as; null: any."""
    missions: list[str] | None
    users: list[str] | None
    requests_per_second: float | None
    burst: int | None
    requests_per_day: int | None
    tokens_per_day: int | None
    created_at: datetime
    created_by: str | None
    """The key that made it, `env:admin` for a token of the environment."""
    expires_at: datetime | None
    revoked_at: datetime | None
    """When it was withdrawn."""
    old_secret_until: datetime | None
    """After a rotation, the time until which the previous secret is valid."""
    last_used_at: datetime | None
    """When it was last used."""
    requests_today: int
    """Requests on this day of UTC."""
    tokens_today: int
    """Tokens written on this day of UTC."""


class Me(msgspec.Struct, kw_only=True):
    """What the key of the request may do, and where. Null bounds are none."""

    tenant: str
    name: str
    """`key:12` for an API key, or `env:` and the access for a token of the environment."""
    access: list[Access]
    agent: str | None = None
    missions: list[str] | None = None
    users: list[str] | None = None

    @classmethod
    def of(cls, principal: Principal) -> Me:
        return cls(
            tenant=principal.tenant,
            name=principal.key,
            access=sorted(principal.access),
            agent=principal.agent,
            missions=None if principal.missions is None else sorted(principal.missions),
            users=None if principal.users is None else sorted(principal.users),
        )


class MadeKey(msgspec.Struct):
    key: ApiKey
    """The key, without its secret."""
    token: str | None
    """The secret, shown only once. Null when an Idempotency-Key repeats a call, because secrets are not stored."""


class ApiKeys(Page[ApiKey]):
    """A page of keys, by id."""


class KeyCursor(Cursor, tag="keys"):
    id: BigId
