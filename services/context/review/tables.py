"""Whose writes wait for a reviewer. Owners ask `timeline.under_review`."""

from __future__ import annotations

from sqlalchemy import Column, PrimaryKeyConstraint, Table, Text, text

from shared.database.schema import Instant, metadata

review_rules = Table(
    "review_rules",
    metadata,
    Column("tenant", Text, nullable=False),
    # mission:… or agent:….
    Column("scope", Text, nullable=False),
    # The key that set it.
    Column("set_by", Text, nullable=False),
    Column("set_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    PrimaryKeyConstraint("tenant", "scope"),
    schema="timeline",
)
