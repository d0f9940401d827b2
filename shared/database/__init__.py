"""Postgres and Redis: connections, schema, idempotency, the index queue, the doorbell."""
