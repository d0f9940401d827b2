"""The table of persistent objects."""

from __future__ import annotations

from sqlalchemy import (
    REAL,
    BigInteger,
    CheckConstraint,
    Column,
    Computed,
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
from sqlalchemy.dialects.postgresql import UUID

from shared.database import schema
from shared.database.schema import Instant, metadata

persistent_objects = Table(
    "persistent_objects",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("id", UUID, nullable=False, server_default=text("gen_random_uuid()")),
    # Its id in search, and in handles.
    Column("number", BigInteger, Identity(always=True), nullable=False),
    Column("user_id", Text, nullable=False),
    Column("scope", Text, Computed("'user:' || user_id", persisted=True), nullable=False),
    # Where it was first kept from. The session may be gone.
    Column("source_object_id", UUID),
    Column("source_session_id", UUID),
    Column("object_type", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("content_hash", LargeBinary, nullable=False),
    # The agent of the session.
    Column("agent_name", Text),
    Column("source_kind", Text, nullable=False),
    Column("written_by", Text, nullable=False),
    Column("token_count", Integer, nullable=False),
    # As of the last reinforcement. A read makes of it what is left: no row is written because time passes.
    Column("confidence", REAL, nullable=False, server_default=text("1.0")),
    Column("last_reinforced", Instant, nullable=False, server_default=text("clock_timestamp()")),
    Column("reinforcements", Integer, nullable=False, server_default=text("0")),
    Column("created_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    PrimaryKeyConstraint("tenant", "id"),
    UniqueConstraint("tenant", "number"),
    # The same content is one row of its user, however many keep it at once.
    UniqueConstraint("tenant", "user_id", "content_hash"),
    CheckConstraint("confidence between 0 and 1", name="persistent_objects_confidence"),
    Index("persistent_objects_user", "tenant", "user_id", "number"),
    Index(
        "persistent_objects_agent", "tenant", "agent_name", postgresql_where=text("agent_name IS NOT NULL")
    ),
    Index(
        "persistent_objects_session",
        "tenant",
        "source_session_id",
        postgresql_where=text("source_session_id IS NOT NULL"),
    ),
    schema="sessions",
)

# Chunks and vectors know an object by its number.
persistent_chunks = schema.chunk_table(
    "sessions",
    "persistent_objects",
    "persistent_chunks",
    Index("persistent_chunks_scope", "tenant", "scope"),
    words="cache.scoped_words(tenant, scope, tsv)",
    key="number",
    copied=False,
)
persistent_vec = schema.vector_table("sessions", "persistent_objects", "persistent_vec", key="number")
