"""The table of the assembly log."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, REAL

from shared.database.schema import Instant, metadata

context_assembly_log = Table(
    "context_assembly_log",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("id", BigInteger, nullable=False, server_default=text("nextval('context.assembly_id_seq')")),
    Column("caller", Text, nullable=False),
    Column("mission_namespace", Text),
    Column("session_id", Text),
    Column("user_id", Text),
    Column("dispatch_id", BigInteger),
    # Every scope that was searched: purging any of them deletes the row.
    Column("scopes", ARRAY(Text), nullable=False),
    Column("query_hash", LargeBinary, nullable=False),
    Column("token_budget", Integer, nullable=False),
    # Whether the request named a budget; if so, it says nothing about the caller's default.
    Column("budget_asked", Boolean, nullable=False, server_default=text("false")),
    Column("token_shares", JSONB, nullable=False, server_default=text("'{}'")),
    Column("as_of", Instant),
    Column("total_tokens", Integer, nullable=False),
    Column("retrieval_ms", REAL, nullable=False),
    Column("low_relevance", Boolean, nullable=False),
    Column("degraded", JSONB, nullable=False, server_default=text("'[]'")),
    # Taken and dropped: handles, factors and the reason, never content.
    Column("candidates", JSONB, nullable=False, server_default=text("'[]'")),
    # Handles of what went into the block, for SQL. Only the replay code reads `candidates`.
    Column("taken", ARRAY(Text), nullable=False, server_default=text("'{}'")),
    # Handles of candidates with too little evidence to be ranked.
    Column("below_floor", ARRAY(Text), nullable=False, server_default=text("'{}'")),
    # What became of the style that was asked for, with what the helper model wrote: the only content here.
    Column("synthesis", JSONB),
    Column("used_source_ids", ARRAY(Text)),
    # Handles that were read or cited, without explicit feedback.
    Column("weak_source_ids", ARRAY(Text), nullable=False, server_default=text("'{}'")),
    Column("tokens_used", Integer),
    Column("feedback_kind", Text),
    Column("processed_at", Instant),
    Column("created_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    PrimaryKeyConstraint("tenant", "id", "created_at"),
    Index("context_assembly_log_caller", "tenant", "caller", "created_at"),
    Index("context_assembly_log_newest", "tenant", "created_at", "id"),
    Index(
        "context_assembly_log_session",
        *("tenant", "session_id", "created_at"),
        postgresql_where=text("session_id IS NOT NULL"),
    ),
    Index(
        "context_assembly_log_unprocessed",
        "tenant",
        "caller",
        postgresql_where=text("processed_at IS NULL AND feedback_kind IS NOT NULL"),
    ),
    Index("context_assembly_log_scopes", "scopes", postgresql_using="gin"),
    schema="context",
    postgresql_partition_by="RANGE (created_at)",
)
