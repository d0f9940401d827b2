"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Deliveries:
    """A page of deliveries, the latest event first."""

    data: list[Delivery]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    seq: int
    """The event's number in the timeline."""
    event_id: str
    """The header `webhook-id`: the same in every attempt."""
    kind: str
    """What happened, such as `cache_write`."""
    scope: str
    """Events of one scope are sent one after the other."""
    status: Literal["dead", "delivered", "erased", "waiting"]
    """`dead`: given up. `erased`: a purge came first."""
    attempts: int
    """How often it was sent."""
    http_status: int | None
    """The status of the last answer."""
    error: (
        Literal[
            "broken_off", "forbidden_address", "http_status", "timeout", "tls", "unknown_host", "unreachable"
        ]
        | None
    )
    """Why the last attempt failed."""
    event_at: datetime
    """When it happened."""
    attempted_at: datetime | None
    """When it was last sent."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeWebhook:
    webhook: Webhook
    """The webhook, without its secret."""
    secret: str | None
    """`whsec_…`, shown only once. Null when an Idempotency-Key repeats a call."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Redelivered:
    waiting: int
    """Events that are to be sent again."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tested:
    delivered: bool
    """Whether the receiver answered 2xx."""
    event_id: str
    """The header `webhook-id` of the message."""
    http_status: int | None
    """The status of its answer."""
    error: (
        Literal[
            "broken_off", "forbidden_address", "http_status", "timeout", "tls", "unknown_host", "unreachable"
        ]
        | None
    )
    """Why it failed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    id: int
    """Its id, unique in the tenant."""
    url: str
    """Where events go."""
    kinds: list[str] | None
    """The kinds of events that it sends; null: all."""
    missions: list[str] | None
    """The missions whose events it sends; null: all that its key may read."""
    agents: list[str] | None
    """The agents whose events it sends; null: all that its key may read."""
    description: str | None
    """What it is for."""
    status: Literal["active", "paused"]
    """Whether it sends events."""
    paused_because: Literal["failing", "gone", "key", "request"] | None
    """Why it is paused: on request, the receiver answered 410, it failed for five days, or its key is not
    valid.
    """
    held_by: str
    """The key that answers for it: it sends what this key may read."""
    position: int
    """The number of the last event that it has looked at."""
    waiting: int
    """Events that wait to be sent, counted up to 1,000."""
    dead: int
    """Dead letters, counted up to 1,000."""
    failing_since: datetime | None
    """When its attempts began to fail; null after one that did not."""
    old_secret_until: datetime | None
    """After a rotation, the time until which the previous secret signs too."""
    created_at: datetime
    """When it was stored."""
    masked: list[dict[str, str]] = field(default_factory=list)
    """The secrets in the request that a mask stands for now, where there were any."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhooks:
    """A page of webhooks, by id."""

    data: list[Webhook]
    """The answer: one object, or a page of them."""
    next: str | None
    """The `cursor` of the next page; null on the last."""
