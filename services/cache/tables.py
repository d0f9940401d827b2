"""The schema `cache`: the tables of its packages, and those that they share."""

from __future__ import annotations

from shared.database import schema
from shared.review.tables import reviews_table

schema.import_tables(__package__)

index_queue = schema.index_queue_table("cache")
idempotency = schema.idempotency_table("cache")
embedding_cache = schema.embedding_cache_table("cache")
reviews = reviews_table("cache")
