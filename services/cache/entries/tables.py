"""The tables of entries, with their chunks and vectors."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Computed,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from shared.database import schema
from shared.database.schema import Instant, metadata

psychic_cache = Table(
    "psychic_cache",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("id", BigInteger, Identity(always=True), nullable=False),
    Column("mission_id", Text, nullable=False),
    Column("scope", Text, Computed("'mission:' || mission_id", persisted=True), nullable=False),
    Column("context_type", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("metadata", JSONB, nullable=False, server_default=text("'{}'")),
    Column("agent_name", Text),
    Column("tags", ARRAY(Text), nullable=False, server_default=text("'{}'")),
    *schema.about_code(),
    Column("source_turn", Integer),
    Column("dispatch_id", BigInteger),
    Column("token_count", Integer, nullable=False),
    *schema.when_and_where(),
    Column("user_id", Text),
    *schema.provenance(),
    # The newer item of which a write said that it supersedes this one.
    Column("superseded_by", BigInteger),
    Column("created_at", Instant, nullable=False),
    Column("expires_at", Instant, nullable=False),
    PrimaryKeyConstraint("tenant", "id"),
    ForeignKeyConstraint(
        ["tenant", "mission_id"], ["cache.missions.tenant", "cache.missions.mission_id"], ondelete="CASCADE"
    ),
    Index("psychic_cache_mission", "tenant", "mission_id", "id", postgresql_include=["token_count"]),
    Index("psychic_cache_expiry", "tenant", "mission_id", "expires_at"),
    Index(
        "psychic_cache_checkpoint",
        "tenant",
        "mission_id",
        "session_id",
        "id",
        postgresql_where=text("context_type = 'thread_checkpoint'"),
    ),
    Index(
        "psychic_cache_session_checkpoint",
        "tenant",
        "session_id",
        "id",
        postgresql_where=text("context_type = 'thread_checkpoint'"),
    ),
    Index(
        "psychic_cache_session_seq",
        "tenant",
        "scope",
        "session_id",
        "seq",
        postgresql_where=text("seq IS NOT NULL"),
    ),
    Index("psychic_cache_user", "tenant", "user_id", postgresql_where=text("user_id IS NOT NULL")),
    schema="cache",
)

psychic_chunks = schema.chunk_table(
    "cache", "psychic_cache", "psychic_chunks", words="cache.scoped_words(tenant, scope, tsv)"
)
psychic_vec = schema.vector_table("cache", "psychic_cache", "psychic_vec")
