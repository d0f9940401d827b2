from __future__ import annotations

from typing import Annotated, Any

from litestar import Request, Router, delete, get, patch, post
from litestar.di import NamedDependency
from litestar.params import JSONBody, Parameter

from services.context.webhooks.schemas import (
    Deliveries,
    DeliveryStatus,
    MadeWebhook,
    Redelivered,
    RedeliverInput,
    RotateSecret,
    Tested,
    Webhook,
    WebhookChange,
    WebhookInput,
    Webhooks,
)
from services.context.webhooks.sending import SECONDS
from services.context.webhooks.service import WebhookService
from shared.paging.parameters import DEFAULT_LIMIT, CursorText, Limit
from shared.web.dependencies import DeadlineDep, PrincipalDep
from shared.web.idempotency_key import key_of
from shared.web.operations import ADMIN, KEYED, problems, takes

WebhookId = Annotated[int, Parameter(ge=1, le=2**63 - 1)]
_TEST_SECONDS = SECONDS + 5
# As long as a purge: there may be millions of deliveries to delete.
_DELETE_SECONDS = 60.0


@post("/", opt=ADMIN | KEYED | problems(409), status_code=201)
async def make(
    request: Request[Any, Any, Any],
    webhook_service: NamedDependency[WebhookService],
    data: JSONBody[WebhookInput],
    principal: PrincipalDep,
    deadline: DeadlineDep,
) -> MadeWebhook:
    """Send events to a URL, each at least once: those that the timeline shows this key, as far as they are wanted.

    The secret that signs them is in this answer only. The webhook pauses when the key is revoked or expires.
    """
    return await webhook_service.make(principal, data, await key_of(request), deadline)


@get("/", operation_id="webhooks_list", opt=ADMIN)
async def list_webhooks(
    webhook_service: NamedDependency[WebhookService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    cursor: CursorText = None,
    limit: Limit = DEFAULT_LIMIT,
) -> Webhooks:
    """List the tenant's webhooks, but never a secret."""
    return await webhook_service.list(principal, cursor, limit, deadline)


@get("/{webhook_id:int}", operation_id="webhooks_get", opt=ADMIN | problems(404))
async def get_webhook(
    webhook_service: NamedDependency[WebhookService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    webhook_id: WebhookId,
) -> Webhook:
    """Get a webhook: whether it sends, and how many events wait."""
    return await webhook_service.get(principal, webhook_id, deadline)


@patch("/{webhook_id:int}", opt=ADMIN | problems(404))
async def change(
    webhook_service: NamedDependency[WebhookService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    webhook_id: WebhookId,
    data: JSONBody[WebhookChange],
) -> Webhook:
    """Change where events go and which, or pause and resume. Filters hold for events that it has not looked at."""
    return await webhook_service.change(principal, webhook_id, data, deadline)


@post("/{webhook_id:int}/rotate", opt=ADMIN | KEYED | problems(404), status_code=200)
async def rotate(
    request: Request[Any, Any, Any],
    webhook_service: NamedDependency[WebhookService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    webhook_id: WebhookId,
    data: JSONBody[RotateSecret],
) -> MadeWebhook:
    """Make a new secret. Messages carry signatures of both during the overlap; an older secret ends now."""
    return await webhook_service.rotate(principal, webhook_id, data, await key_of(request), deadline)


@delete(
    "/{webhook_id:int}",
    operation_id="webhooks_delete",
    opt=ADMIN | problems(404) | takes(_DELETE_SECONDS),
)
async def delete_webhook(
    webhook_service: NamedDependency[WebhookService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    webhook_id: WebhookId,
) -> None:
    """Delete a webhook with what waits to be sent, and with what is known of its deliveries."""
    await webhook_service.delete(principal, webhook_id, deadline)


@get("/{webhook_id:int}/deliveries", opt=ADMIN | problems(404))
async def deliveries(
    webhook_service: NamedDependency[WebhookService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    webhook_id: WebhookId,
    status: Annotated[
        DeliveryStatus | None, Parameter(description="Only these; `dead` are the dead letters.")
    ] = None,
    cursor: CursorText = None,
    limit: Limit = DEFAULT_LIMIT,
) -> Deliveries:
    """List what waits, what was delivered in the last 7 days, and the dead letters of 30 days."""
    return await webhook_service.deliveries(principal, webhook_id, status, cursor, limit, deadline)


@post("/{webhook_id:int}/redeliver", opt=ADMIN | problems(404), status_code=200)
async def redeliver(
    webhook_service: NamedDependency[WebhookService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    webhook_id: WebhookId,
    data: JSONBody[RedeliverInput],
) -> Redelivered:
    """Send an event again, or all dead letters. They come after later events that were delivered meanwhile."""
    return await webhook_service.redeliver(principal, webhook_id, data, deadline)


@post("/{webhook_id:int}/test", opt=ADMIN | problems(404) | takes(_TEST_SECONDS), status_code=200)
async def send_test(
    webhook_service: NamedDependency[WebhookService],
    principal: PrincipalDep,
    deadline: DeadlineDep,
    webhook_id: WebhookId,
) -> Tested:
    """Send a message of the kind webhook_test now, once, and tell what the receiver answered."""
    return await webhook_service.test(principal, webhook_id, deadline)


WEBHOOKS = Router(
    "/api/webhooks",
    route_handlers=[
        make,
        list_webhooks,
        get_webhook,
        change,
        rotate,
        delete_webhook,
        deliveries,
        redeliver,
        send_test,
    ],
    tags=["webhooks"],
)
