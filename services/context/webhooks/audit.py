"""What the audit keeps of a webhook: its settings and its host, never a secret or the rest of its URL."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from services.context.webhooks.schemas import Webhook
from shared.auth import Principal
from shared.database import audit
from shared.database.audit import Action, Deed
from shared.database.postgres import Connection

_SETTINGS = ("kinds", "missions", "agents", "paused_because", "held_by")


async def record(
    c: Connection,
    principal: Principal,
    action: Action,
    webhook: Webhook,
    before: Webhook | None = None,
    *,
    count: int | None = None,
) -> None:
    """`count`: how many events were put back."""
    more = {} if count is None else {"count": count}
    deed = Deed(
        action=action,
        target=f"webhook:{webhook.id}",
        subjects=[
            *(f"agent:{name}" for name in webhook.agents or ()),
            *(f"mission:{name}" for name in webhook.missions or ()),
        ],
        before=None if before is None else _settings(before),
        after={**_settings(webhook), **more},
    )
    await audit.record(c, principal, deed)


def _settings(webhook: Webhook) -> dict[str, Any]:
    kept = {name: value for name in _SETTINGS if (value := getattr(webhook, name)) is not None}
    return {**kept, "host": urlsplit(webhook.url).hostname, "status": webhook.status}
