"""The schema `memory`: tables of its rooms, and those that serve all of them."""

from __future__ import annotations

from services.agent_memory.memories import tables as _memories  # noqa: F401
from shared.database import schema

index_queue = schema.index_queue_table("memory")
idempotency = schema.idempotency_table("memory")
embedding_cache = schema.embedding_cache_table("memory")
