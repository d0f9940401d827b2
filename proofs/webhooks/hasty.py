"""A context service that notes an event as delivered before it sends it: the control.

Run as `python -m proofs.webhooks.hasty`.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from services.context.app import create
from services.context.settings import Settings
from services.context.webhooks import lanes, signing
from services.context.webhooks.lanes import Lanes
from services.context.webhooks.queries_sending import Head, Lane
from services.context.webhooks.retrying import Outcome
from shared.web.serving.start import start


async def send(self: Lanes, tenant: str, lane: Lane, mark: UUID) -> None:
    head: Head | None = await self._noted(tenant, lambda c: lanes._begin(c, tenant, lane, mark))
    while head is not None:
        following = await self._note(tenant, lane, mark, head, Outcome(http_status=200), again=True)
        if head.event is not None:
            await self._sender.send(tenant, head.url, signing.message(tenant, head.event), head.keys)
        head = following


if __name__ == "__main__":
    replaced: Any = Lanes
    replaced.send = send
    start("context", Settings.from_env, create)
