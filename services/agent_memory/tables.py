"""The schema `memory`: the tables of its packages, and those that they share."""

from __future__ import annotations

from shared.database import schema
from shared.review.tables import reviews_table

schema.import_tables(__package__)

index_queue = schema.index_queue_table("memory")
idempotency = schema.idempotency_table("memory")
embedding_cache = schema.embedding_cache_table("memory")
reviews = reviews_table("memory")
