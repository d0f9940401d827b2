"""The schema `context`: keys, the assembly log, and what was learned from feedback."""

from __future__ import annotations

from shared.database import schema

schema.import_tables(__package__)

idempotency = schema.idempotency_table("context")
embedding_cache = schema.embedding_cache_table("context")
