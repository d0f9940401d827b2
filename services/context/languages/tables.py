"""The table of tenants' languages."""

from __future__ import annotations

from sqlalchemy import Column, PrimaryKeyConstraint, Table, Text, text

from shared.database.schema import Instant, metadata

languages = Table(
    "languages",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("language", Text, nullable=False),
    # The key that set it.
    Column("set_by", Text, nullable=False),
    Column("updated_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    PrimaryKeyConstraint("tenant"),
    schema="context",
)
