"""Written by `make openapi` from the API's document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from scrubjay._call import Call, PagedCall, fields, nullable, path
from scrubjay._data import UNSET, Unset
from scrubjay.models import Deliveries, Delivery, MadeWebhook, Redelivered, Tested, Webhook, Webhooks


def make(
    *,
    url: str,
    kinds: Sequence[str] | None = None,
    missions: Sequence[str] | None = None,
    agents: Sequence[str] | None = None,
    description: str | None = None,
    after: int | None = None,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[MadeWebhook]:
    """Send events to a URL, each at least once: those that the timeline shows this key, as far as they are
    wanted. The secret that signs them is in this answer only. The webhook pauses when the key is
    revoked or expires.

    Args:
        url: Where events go: `https://…`, with a name or a public address.
        kinds: Only events of these kinds, such as cache_write.
        missions: Only these missions' events.
        agents: Only these agents' events.
        description: What it is for, in your own words.
        after: The number of the event after which it begins; else only later events are sent.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path="/api/webhooks",
        answer=MadeWebhook,
        seconds=5.0,
        repeatable=True,
        body=fields(
            url=url, kinds=kinds, missions=missions, agents=agents, description=description, after=after
        ),
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def list_(
    *,
    cursor: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> PagedCall[Webhooks, Webhook]:
    """List the tenant's webhooks, but never a secret.

    Args:
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="GET",
        path="/api/webhooks",
        answer=Webhooks,
        seconds=5.0,
        repeatable=False,
        query={"cursor": cursor, "limit": limit},
        timeout=timeout,
    )


def get(
    webhook_id: int,
    *,
    timeout: float | None = None,
) -> Call[Webhook]:
    """Get a webhook: whether it sends, and how many events wait.

    Args:
        webhook_id: The id of a webhook.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="GET",
        path=path("/api/webhooks/{webhook_id}", webhook_id=webhook_id),
        answer=Webhook,
        seconds=5.0,
        repeatable=False,
        timeout=timeout,
    )


def change(
    webhook_id: int,
    *,
    url: str | None = None,
    kinds: Sequence[str] | Unset | None = UNSET,
    missions: Sequence[str] | Unset | None = UNSET,
    agents: Sequence[str] | Unset | None = UNSET,
    description: str | Unset | None = UNSET,
    status: Literal["active", "paused"] | None = None,
    timeout: float | None = None,
) -> Call[Webhook]:
    """Change where events go and which, or pause and resume. Filters hold for events that it has not
    looked at.

    Args:
        webhook_id: The id of a webhook.
        url: Where events go from now on, those that wait too.
        kinds: Only events of these kinds.
        missions: The missions that it may touch; null: all.
        agents: Only these agents' events.
        description: What it is for, in your own words.
        status: `paused` keeps what happens meanwhile for later. The key that says `active` answers for
            the webhook from now on.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="PATCH",
        path=path("/api/webhooks/{webhook_id}", webhook_id=webhook_id),
        answer=Webhook,
        seconds=5.0,
        repeatable=True,
        body=fields(url=url, status=status)
        | nullable(kinds=kinds, missions=missions, agents=agents, description=description),
        timeout=timeout,
    )


def delete(
    webhook_id: int,
    *,
    timeout: float | None = None,
) -> Call[None]:
    """Delete a webhook with what waits to be sent, and with what is known of its deliveries.

    Args:
        webhook_id: The id of a webhook.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="DELETE",
        path=path("/api/webhooks/{webhook_id}", webhook_id=webhook_id),
        answer=None,
        seconds=60.0,
        repeatable=False,
        timeout=timeout,
    )


def deliveries(
    webhook_id: int,
    *,
    status: Literal["dead", "delivered", "erased", "waiting"] | None = None,
    cursor: str | None = None,
    limit: int | None = None,
    timeout: float | None = None,
) -> PagedCall[Deliveries, Delivery]:
    """List what waits, what was delivered in the last 7 days, and the dead letters of 30 days.

    Args:
        webhook_id: The id of a webhook.
        status: Only these; `dead` are the dead letters.
        cursor: The `next` of the previous page. Omit it for the first page.
        limit: The largest number of items in a page.
        timeout: Seconds for the call with all its tries.
    """
    return PagedCall(
        method="GET",
        path=path("/api/webhooks/{webhook_id}/deliveries", webhook_id=webhook_id),
        answer=Deliveries,
        seconds=5.0,
        repeatable=False,
        query={"status": status, "cursor": cursor, "limit": limit},
        timeout=timeout,
    )


def redeliver(
    webhook_id: int,
    *,
    seq: int | str | None = None,
    timeout: float | None = None,
) -> Call[Redelivered]:
    """Send an event again, or all dead letters. They come after later events that were delivered
    meanwhile.

    Args:
        webhook_id: The id of a webhook.
        seq: The event's number. Without one, all dead letters are sent again, a thousand at a time.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path=path("/api/webhooks/{webhook_id}/redeliver", webhook_id=webhook_id),
        answer=Redelivered,
        seconds=5.0,
        repeatable=False,
        body=fields(seq=seq),
        timeout=timeout,
    )


def rotate(
    webhook_id: int,
    *,
    overlap_seconds: int | None = None,
    idempotency_key: str | None = None,
    timeout: float | None = None,
) -> Call[MadeWebhook]:
    """Make a new secret. Messages carry signatures of both during the overlap; an older secret ends now.

    Args:
        webhook_id: The id of a webhook.
        overlap_seconds: How long messages carry a signature of the current secret beside one of the
            new. Default: `86400`.
        idempotency_key: A write under one key happens once; else the client makes one up.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path=path("/api/webhooks/{webhook_id}/rotate", webhook_id=webhook_id),
        answer=MadeWebhook,
        seconds=5.0,
        repeatable=True,
        body=fields(overlap_seconds=overlap_seconds),
        keyed=True,
        idempotency_key=idempotency_key,
        timeout=timeout,
    )


def send_test(
    webhook_id: int,
    *,
    timeout: float | None = None,
) -> Call[Tested]:
    """Send a message of the kind webhook_test now, once, and tell what the receiver answered.

    Args:
        webhook_id: The id of a webhook.
        timeout: Seconds for the call with all its tries.
    """
    return Call(
        method="POST",
        path=path("/api/webhooks/{webhook_id}/test", webhook_id=webhook_id),
        answer=Tested,
        seconds=15.0,
        repeatable=False,
        timeout=timeout,
    )
