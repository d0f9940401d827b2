"""The table of tenants' policies."""

from __future__ import annotations

from sqlalchemy import Column, PrimaryKeyConstraint, Table, Text, text

from shared.database.schema import Instant, metadata

secret_policies = Table(
    "secret_policies",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("policy", Text, nullable=False),
    # The key that set it.
    Column("set_by", Text, nullable=False),
    Column("updated_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    PrimaryKeyConstraint("tenant"),
    schema="context",
)
