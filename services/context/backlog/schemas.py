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
    """When all of them should have vectors; what other tenants wrote before them comes first. Null when nothing waits,
    and while no vectors are made."""


class TenantBacklog(msgspec.Struct):
    """What of the tenant waits for its vectors."""

    stores: list[StoreWaiting]
    """Every store, also where nothing waits."""
    degraded: list[Degraded]
    """The services that did not answer: of their stores nothing is known."""
