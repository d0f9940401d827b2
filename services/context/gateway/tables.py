"""The table of the gateway's sessions."""

from __future__ import annotations

from sqlalchemy import Column, Index, Integer, LargeBinary, PrimaryKeyConstraint, Table, Text, text
from sqlalchemy.dialects.postgresql import ARRAY

from shared.database.schema import Instant, metadata

gateway_sessions = Table(
    "gateway_sessions",
    metadata,
    Column("tenant", Text, nullable=False),
    # The key that speaks in it.
    Column("caller", Text, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("scopes", ARRAY(Text), nullable=False),
    # Counts its changes.
    Column("version", Integer, nullable=False),
    # JSON, packed.
    Column("state", LargeBinary, nullable=False),
    Column("updated_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    PrimaryKeyConstraint("tenant", "caller", "session_id"),
    Index("gateway_sessions_updated_at", "updated_at"),
    schema="context",
)
