"""The schema `cache`: tables of its rooms, and those that serve all of them."""

from __future__ import annotations

from services.cache.dispatches import tables as _dispatches  # noqa: F401
from services.cache.entries import tables as _entries  # noqa: F401
from services.cache.missions import tables as _missions  # noqa: F401
from shared.database import schema

index_queue = schema.index_queue_table("cache")
idempotency = schema.idempotency_table("cache")
embedding_cache = schema.embedding_cache_table("cache")
