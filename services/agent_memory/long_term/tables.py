"""The table of long-term memory, with its chunks and vectors."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
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
from sqlalchemy.dialects.postgresql import ARRAY

from shared.database import schema
from shared.database.schema import Instant, metadata

long_term = Table(
    "long_term",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("id", BigInteger, Identity(always=True), nullable=False),
    Column("scope", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("content", Text, nullable=False),
    Column("content_hash", LargeBinary, nullable=False),
    # The agent that wrote it, if an agent did.
    Column("agent_name", Text),
    Column("user_id", Text),
    Column("topics", ARRAY(Text), nullable=False, server_default=text("'{}'")),
    # Of an episode, which began at `occurred_at`.
    Column("tone", Text),
    Column("ended_at", Instant),
    # Of a commitment. An open one whose time has passed reads as expired before the sweep has marked it.
    Column("owed_by", Text),
    Column("owed_to", Text),
    Column("due_at", Instant),
    Column("status", Text),
    Column("token_count", Integer, nullable=False),
    Column("chunks", Integer, nullable=False),
    *schema.when_and_where(),
    *schema.provenance(),
    # The newer memory of which a write said that it supersedes this one.
    Column("superseded_by", BigInteger),
    *schema.about_code(),
    Column("language", Text),
    # The system that it was imported from, and its id there.
    Column("origin", Text),
    Column("created_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    Column("updated_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    PrimaryKeyConstraint("tenant", "id"),
    # The hash covers the origin, or else the fact's key, the user, and the times of an episode or a commitment.
    UniqueConstraint("tenant", "scope", "kind", "content_hash"),
    Index("long_term_scope", "tenant", "scope", "id"),
    Index(
        "long_term_session_seq",
        "tenant",
        "scope",
        "session_id",
        "seq",
        postgresql_where=text("seq IS NOT NULL"),
    ),
    Index("long_term_user", "tenant", "user_id", postgresql_where=text("user_id IS NOT NULL")),
    Index("long_term_agent", "tenant", "agent_name", postgresql_where=text("agent_name IS NOT NULL")),
    Index("long_term_due", "tenant", "due_at", postgresql_where=text("status = 'open'")),
    schema="memory",
)

long_term_chunks = schema.chunk_table(
    "memory",
    "long_term",
    "long_term_chunks",
    schema.body_column(),
    words="memory.scoped_words(tenant, scope, true, tsv)",
)
long_term_vec = schema.vector_table("memory", "long_term", "long_term_vec")
