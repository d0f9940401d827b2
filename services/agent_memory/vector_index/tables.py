"""The table of tenants that are searched through HNSW."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, PrimaryKeyConstraint, Table, Text, text

from shared.database.schema import Instant, metadata

large_tenants = Table(
    "large_tenants",
    metadata,
    Column("tenant", Text, nullable=False),
    # Since then, each new vector of the tenant goes into the index.
    Column("since", Instant, nullable=False, server_default=text("clock_timestamp()")),
    # All vectors of the tenant are in the index.
    Column("complete", Boolean, nullable=False, server_default=text("false")),
    PrimaryKeyConstraint("tenant"),
    schema="memory",
)
