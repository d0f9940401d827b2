"""The tables of checkpoints."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from shared.database.schema import Instant, metadata


def _ordered(name: str) -> Column[Any]:
    """Text that frameworks compare by its bytes."""
    return Column(name, Text(collation="C"), nullable=False)


def _of_thread() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["tenant", "thread"],
        ["cache.checkpoint_threads.tenant", "cache.checkpoint_threads.id"],
        ondelete="CASCADE",
    )


checkpoint_threads = Table(
    "checkpoint_threads",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("id", BigInteger, Identity(always=True), nullable=False),
    Column("thread_id", Text, nullable=False),
    # Of its own name and those of its parties, whatever their length: two parties may call a thread the same.
    Column("name_hash", LargeBinary, nullable=False),
    Column("scope", Text, nullable=False),
    Column("agent_name", Text),
    Column("mission_id", Text),
    Column("user_id", Text),
    Column("written_by", Text, nullable=False),
    Column("created_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    Column("expires_at", Instant, nullable=False),
    PrimaryKeyConstraint("tenant", "id"),
    UniqueConstraint("tenant", "name_hash"),
    Index("checkpoint_threads_scope", "tenant", "scope", "id"),
    Index(
        "checkpoint_threads_agent", "tenant", "agent_name", postgresql_where=text("agent_name IS NOT NULL")
    ),
    Index("checkpoint_threads_user", "tenant", "user_id", postgresql_where=text("user_id IS NOT NULL")),
    Index("checkpoint_threads_expiry", "expires_at"),
    schema="cache",
)

checkpoints = Table(
    "checkpoints",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("thread", BigInteger, nullable=False),
    _ordered("checkpoint_id"),
    _ordered("namespace"),
    Column("parent_id", Text),
    Column("run_id", Text),
    Column("metadata", JSONB, nullable=False),
    # JSON as it was sent: its objects keep their order, its numbers their form.
    Column("state", Text, nullable=False),
    Column("created_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    PrimaryKeyConstraint("tenant", "thread", "checkpoint_id", "namespace"),
    _of_thread(),
    Index("checkpoints_run", "tenant", "run_id", postgresql_where=text("run_id IS NOT NULL")),
    schema="cache",
)

# Of a checkpoint that may not be there yet: a framework stores both at once.
checkpoint_writes = Table(
    "checkpoint_writes",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("thread", BigInteger, nullable=False),
    _ordered("checkpoint_id"),
    _ordered("namespace"),
    _ordered("task_id"),
    Column("place", Integer, nullable=False),
    _ordered("task_path"),
    Column("channel", Text, nullable=False),
    Column("value", Text, nullable=False),
    PrimaryKeyConstraint("tenant", "thread", "checkpoint_id", "namespace", "task_id", "place"),
    _of_thread(),
    schema="cache",
)
