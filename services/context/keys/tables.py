"""Tables of API keys and their usage."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
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
from sqlalchemy.dialects.postgresql import ARRAY, DOUBLE_PRECISION

from shared.database.schema import Instant, metadata

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
    # The previous secret, valid until `old_expires_at`.
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
