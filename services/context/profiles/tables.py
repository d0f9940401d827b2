"""The table of profiles."""

from __future__ import annotations

from sqlalchemy import Boolean, CheckConstraint, Column, PrimaryKeyConstraint, Table, Text, text

from shared.database.schema import Instant, metadata

profiles = Table(
    "profiles",
    metadata,
    Column("tenant", Text, nullable=False),
    # Its subject: agent:… or user:….
    Column("scope", Text, nullable=False),
    Column("text", Text, nullable=False),
    # Blocks for the subject also show its background.
    Column("background", Boolean, nullable=False, server_default=text("false")),
    Column("written_by", Text, nullable=False),
    Column("source_kind", Text, nullable=False),
    Column("source_claim", Text),
    Column("updated_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    PrimaryKeyConstraint("tenant", "scope"),
    CheckConstraint("scope like 'agent:%' or scope like 'user:%'", name="profiles_scope_check"),
    schema="context",
)
