"""The table of dispatches."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Computed,
    Identity,
    Index,
    Integer,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    text,
)

from shared.database.schema import Instant, metadata

agent_dispatch = Table(
    "agent_dispatch",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("id", BigInteger, Identity(always=True), nullable=False),
    Column("mission_id", Text, nullable=False),
    Column("scope", Text, Computed("'mission:' || mission_id", persisted=True), nullable=False),
    Column("agent_name", Text, nullable=False),
    Column("task", Text, nullable=False),
    Column("parent_id", BigInteger),
    Column("session_id", Text),
    # dispatched, in_progress, completed or stale. `closed_at` is null while it is open.
    Column("status", Text, nullable=False, server_default=text("'dispatched'")),
    Column("progress", Text),
    Column("percent", SmallInteger),
    Column("outcome", Text),
    Column("summary", Text),
    # Output entries written for it, including those evicted since.
    Column("outputs", Integer, nullable=False, server_default=text("0")),
    Column("written_by", Text, nullable=False),
    Column("created_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    # In no index, so that a heartbeat is a heap-only update.
    Column("last_heartbeat", Instant, nullable=False, server_default=text("clock_timestamp()")),
    Column("closed_at", Instant),
    PrimaryKeyConstraint("tenant", "id"),
    Index("agent_dispatch_live", "id", postgresql_where=text("closed_at IS NULL")),
    Index("agent_dispatch_mission", "tenant", "mission_id", "id"),
    Index("agent_dispatch_agent", "tenant", "agent_name", "id"),
    schema="cache",
)
