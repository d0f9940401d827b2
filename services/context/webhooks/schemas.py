"""Webhooks as callers make and read them."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from services.context.webhooks.retrying import Failure
from shared.addresses import MOST_CHARACTERS
from shared.body import Body
from shared.paging.cursors import Cursor
from shared.paging.pages import Page
from shared.text import SEEN, BigId, Name

Url = Annotated[str, Meta(min_length=1, max_length=MOST_CHARACTERS)]
Description = Annotated[str, Meta(min_length=1, max_length=1_000, pattern=SEEN)]
Names = Annotated[list[Name], Meta(min_length=1, max_length=100)]
Status = Literal["active", "paused"]
Reason = Literal["request", "gone", "failing", "key"]
DeliveryStatus = Literal["waiting", "delivered", "dead", "erased"]


class WebhookInput(Body, kw_only=True):
    url: Url
    """Where events go: `https://…`, with a name or a public address."""
    kinds: Names | None = None
    """Only events of these kinds, such as cache_write."""
    missions: Names | None = None
    """Only these missions' events."""
    agents: Names | None = None
    """Only these agents' events."""
    description: Description | None = None
    """What it is for, in your own words."""
    after: Annotated[int, Meta(ge=0, le=2**63 - 1)] | None = None
    """The number of the event after which it begins; else only later events are sent."""


class WebhookChange(Body, kw_only=True):
    """A field left out stays. Null takes a filter or the description away."""

    url: Url | UnsetType = UNSET
    """Where events go from now on, those that wait too."""
    kinds: Names | UnsetType | None = UNSET
    """Only events of these kinds."""
    missions: Names | UnsetType | None = UNSET
    agents: Names | UnsetType | None = UNSET
    """Only these agents' events."""
    description: Description | UnsetType | None = UNSET
    """What it is for, in your own words."""
    status: Status | UnsetType = UNSET
    """`paused` keeps what happens meanwhile for later. The key that says `active` answers for the webhook from now
    on."""


class RotateSecret(Body, kw_only=True):
    overlap_seconds: Annotated[int, Meta(ge=0, le=30 * 86_400)] = 86_400
    """How long messages carry a signature of the current secret beside one of the new."""


class RedeliverInput(Body, kw_only=True):
    seq: BigId | None = None
    """The event's number. Without one, all dead letters are sent again, a thousand at a time."""


class Webhook(msgspec.Struct, kw_only=True):
    id: int
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
    status: Status
    """Whether it sends events."""
    paused_because: Reason | None
    """Why it is paused: on request, the receiver answered 410, it failed for five days, or its key is not valid."""
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


class MadeWebhook(msgspec.Struct):
    webhook: Webhook
    """The webhook, without its secret."""
    secret: str | None
    """`whsec_…`, shown only once. Null when an Idempotency-Key repeats a call."""


class Webhooks(Page[Webhook]):
    """A page of webhooks, by id."""


class Delivery(msgspec.Struct, kw_only=True):
    seq: int
    """The event's number in the timeline."""
    event_id: str
    """The header `webhook-id`: the same in every attempt."""
    kind: str
    """What happened, such as `cache_write`."""
    scope: str
    """Events of one scope are sent one after the other."""
    status: DeliveryStatus
    """`dead`: given up. `erased`: a purge came first."""
    attempts: int
    """How often it was sent."""
    http_status: int | None
    """The status of the last answer."""
    error: Failure | None
    """Why the last attempt failed."""
    event_at: datetime
    """When it happened."""
    attempted_at: datetime | None
    """When it was last sent."""


class Deliveries(Page[Delivery]):
    """A page of deliveries, the latest event first."""


class Redelivered(msgspec.Struct):
    waiting: int
    """Events that are to be sent again."""


class Tested(msgspec.Struct):
    delivered: bool
    """Whether the receiver answered 2xx."""
    event_id: str
    """The header `webhook-id` of the message."""
    http_status: int | None
    """The status of its answer."""
    error: Failure | None
    """Why it failed."""


class WebhookCursor(Cursor, tag="webhooks"):
    id: BigId


class DeliveryCursor(Cursor, tag="deliveries"):
    seq: BigId
