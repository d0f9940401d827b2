"""The schema `context`: keys, what was assembled and why, and what was learned from feedback."""

from __future__ import annotations

from services.context.keys import tables as _keys  # noqa: F401
from services.context.learning import tables as _learning  # noqa: F401
from services.context.log import tables as _log  # noqa: F401
from shared.database import schema

idempotency = schema.idempotency_table("context")
embedding_cache = schema.embedding_cache_table("context")
