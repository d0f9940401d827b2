"""What of a tenant waits for its vectors."""

from __future__ import annotations

from datetime import datetime

import msgspec

from services.context.schemas import Degraded


class StoreWaiting(msgspec.Struct, kw_only=True):
    """What of a store waits. Until it has vectors, questions find it by its words."""

    store: str
    items: int
    """How many of its items wait; 100,000 stands for more."""
    expected_at: datetime | None
    """When they are expected to have vectors, behind what other tenants wrote before. It is missing while none are
    made, and when nothing waits."""


class TenantBacklog(msgspec.Struct):
    """What of the tenant waits for its vectors."""

    stores: list[StoreWaiting]
    """All stores, those in which nothing waits, too."""
    degraded: list[Degraded]
    """The services that did not answer: of their stores nothing is known."""
