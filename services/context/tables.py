"""The schema `context`: keys, what was assembled and why, and what was learned from feedback."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Date,
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
from sqlalchemy.dialects.postgresql import ARRAY, DOUBLE_PRECISION, JSONB, REAL

from shared import schema
from shared.schema import Instant, metadata

api_keys = Table(
    "api_keys",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("id", BigInteger, Identity(always=True), nullable=False),
    Column("name", Text, nullable=False),
    Column("token_hash", LargeBinary, nullable=False),
    Column("access", ARRAY(Text), nullable=False),
    Column("agent_name", Text),
    Column("missions", ARRAY(Text)),
    Column("users", ARRAY(Text)),
    Column("created_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    Column("expires_at", Instant, nullable=False, server_default=text("'infinity'")),
    Column("revoked_at", Instant),
    Column("created_by", Text),
    # The secret before the one in force, valid beside it until then.
    Column("old_token_hash", LargeBinary),
    Column("old_expires_at", Instant),
    Column("requests_per_second", DOUBLE_PRECISION),
    Column("burst", Integer),
    Column("requests_per_day", BigInteger),
    Column("tokens_per_day", BigInteger),
    PrimaryKeyConstraint("tenant", "id"),
    UniqueConstraint("token_hash"),
    Index(
        "api_keys_old_token_hash",
        "old_token_hash",
        postgresql_where=text("old_token_hash IS NOT NULL"),
    ),
    schema="context",
)

api_key_usage = Table(
    "api_key_usage",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("key_id", BigInteger, nullable=False),
    Column("day", Date, nullable=False),
    Column("requests", BigInteger, nullable=False),
    Column("tokens", BigInteger, nullable=False),
    Column("last_used_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    PrimaryKeyConstraint("tenant", "key_id", "day"),
    schema="context",
)

source_weights = Table(
    "source_weights",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("caller", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("weight", REAL, nullable=False),
    Column("token_share", REAL, nullable=False),
    Column("manual", Boolean, nullable=False, server_default=text("false")),
    Column("updated_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    PrimaryKeyConstraint("tenant", "caller", "source"),
    schema="context",
)

source_weight_history = Table(
    "source_weight_history",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("id", BigInteger, Identity(always=True), nullable=False),
    Column("caller", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("old_weight", REAL, nullable=False),
    Column("new_weight", REAL, nullable=False),
    Column("old_token_share", REAL, nullable=False),
    Column("new_token_share", REAL, nullable=False),
    # eval or operator; what the evaluation saw stands beside it.
    Column("cause", Text, nullable=False),
    Column("effectiveness", REAL),
    Column("assemblies", Integer),
    Column("created_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    PrimaryKeyConstraint("tenant", "id"),
    Index("source_weight_history_caller", "tenant", "caller", "created_at"),
    schema="context",
)

caller_budget_config = Table(
    "caller_budget_config",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("caller", Text, nullable=False),
    Column("default_budget", Integer, nullable=False),
    Column("min_budget", Integer, nullable=False),
    Column("max_budget", Integer, nullable=False),
    # What no request may exceed; null: only the installation's limit.
    Column("ceiling", Integer),
    Column("manual", Boolean, nullable=False, server_default=text("false")),
    Column("updated_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    PrimaryKeyConstraint("tenant", "caller"),
    schema="context",
)

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
    # Every scope that was searched: a purge of one of them takes the row with it.
    Column("scopes", ARRAY(Text), nullable=False),
    Column("query_hash", LargeBinary, nullable=False),
    Column("token_budget", Integer, nullable=False),
    # A budget that the request named says nothing about the caller's default.
    Column("budget_asked", Boolean, nullable=False, server_default=text("false")),
    Column("token_shares", JSONB, nullable=False, server_default=text("'{}'")),
    Column("as_of", Instant),
    Column("total_tokens", Integer, nullable=False),
    Column("retrieval_ms", REAL, nullable=False),
    Column("low_relevance", Boolean, nullable=False),
    Column("degraded", JSONB, nullable=False, server_default=text("'[]'")),
    # Taken and dropped alike: handles, factors and the reason, never content.
    Column("candidates", JSONB, nullable=False, server_default=text("'[]'")),
    # Handles of what was found and said too little of the question to be ranked.
    Column("below_floor", ARRAY(Text), nullable=False, server_default=text("'{}'")),
    Column("used_source_ids", ARRAY(Text)),
    # Handles that were read again or cited, which nobody said were of use.
    Column("weak_source_ids", ARRAY(Text), nullable=False, server_default=text("'{}'")),
    Column("tokens_used", Integer),
    Column("feedback_kind", Text),
    Column("processed_at", Instant),
    Column("created_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    PrimaryKeyConstraint("tenant", "id", "created_at"),
    Index("context_assembly_log_caller", "tenant", "caller", "created_at"),
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

idempotency = schema.idempotency_table("context")
embedding_cache = schema.embedding_cache_table("context")
