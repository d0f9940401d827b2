"""The tables of memories, with their chunks, vectors and confirmations."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Computed,
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
from sqlalchemy.dialects.postgresql import ARRAY

from shared.database import schema
from shared.database.schema import Instant, metadata

agent_memory = Table(
    "agent_memory",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("id", BigInteger, Identity(always=True), nullable=False),
    Column("agent_name", Text, nullable=False),
    Column("scope", Text, Computed("'agent:' || agent_name", persisted=True), nullable=False),
    Column("content", Text, nullable=False),
    Column("content_hash", LargeBinary, nullable=False),
    # Of what all texts that may state the same have in common. None for more than one chunk, and from before 0051.
    Column("stated_hash", BigInteger),
    Column("memory_type", Text, nullable=False),
    Column("task_description", Text),
    Column("skills_used", ARRAY(Text), nullable=False, server_default=text("'{}'")),
    Column("outcome", Text),
    Column("mission_namespace", Text),
    Column("private", Boolean, nullable=False, server_default=text("false")),
    Column("token_count", Integer, nullable=False),
    Column("chunks", Integer, nullable=False),
    # Where a memory has a row in `accesses`, that tells how often it was read.
    Column("access_count", BigInteger, nullable=False, server_default=text("0")),
    Column("confirmed_count", BigInteger, nullable=False, server_default=text("0")),
    # Stored without a vector. The search for duplicates follows when the vector arrives.
    Column("pending", Boolean, nullable=False, server_default=text("false")),
    *schema.when_and_where(),
    *schema.provenance(),
    # When it was last stated again: the repetition's own time, or else that of its arrival.
    Column("confirmed_at", Instant),
    # The newer item of which a write said that it supersedes this one.
    Column("superseded_by", BigInteger),
    *schema.about_code(),
    Column("dispatch_id", BigInteger),
    Column("user_id", Text),
    Column("language", Text),
    Column("created_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    Column("updated_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    PrimaryKeyConstraint("tenant", "id"),
    # The hash covers the fact's key and the user: texts that differ only in case, punctuation and spacing are one
    # memory, but the same text about two users is two facts.
    UniqueConstraint("tenant", "agent_name", "content_hash"),
    Index("agent_memory_agent", "tenant", "agent_name", "created_at"),
    Index(
        "agent_memory_stated",
        "tenant",
        "agent_name",
        "stated_hash",
        postgresql_where=text("chunks = 1"),
    ),
    # Each search of an agent's own memories reads the agent's maximum, here and in `accesses`.
    Index(
        "agent_memory_accessed_before",
        "tenant",
        "agent_name",
        "access_count",
        postgresql_where=text("access_count > 0"),
    ),
    Index(
        "agent_memory_session_seq",
        "tenant",
        "scope",
        "session_id",
        "seq",
        postgresql_where=text("seq IS NOT NULL"),
    ),
    Index("agent_memory_user", "tenant", "user_id", postgresql_where=text("user_id IS NOT NULL")),
    schema="memory",
)

# How often each memory was read. Apart, because an update of a memory's row makes an entry in each of its indexes, and
# a search that has a copy of the row would read it again.
accesses = Table(
    "accesses",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("memory_id", BigInteger, nullable=False),
    Column("agent_name", Text, nullable=False),
    Column("access_count", BigInteger, nullable=False),
    PrimaryKeyConstraint("tenant", "memory_id"),
    ForeignKeyConstraint(
        ["tenant", "memory_id"],
        ["memory.agent_memory.tenant", "memory.agent_memory.id"],
        ondelete="CASCADE",
    ),
    Index("accesses_most", "tenant", "agent_name", "access_count"),
    schema="memory",
)

# Repetitions of a memory: by which key and kind of source, in which mission, for which dispatch, from which assembly.
# `absorbed_id` is the id that the repeat had until its vector arrived. It still leads to the memory.
confirmations = Table(
    "confirmations",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("id", BigInteger, Identity(always=True), nullable=False),
    Column("memory_id", BigInteger, nullable=False),
    Column("written_by", Text, nullable=False),
    Column("source_kind", Text, nullable=False),
    Column("mission_namespace", Text),
    Column("dispatch_id", BigInteger),
    Column("recalled_from", BigInteger),
    Column("absorbed_id", BigInteger),
    Column("count", BigInteger, nullable=False, server_default=text("1")),
    Column("first_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    Column("last_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    PrimaryKeyConstraint("tenant", "id"),
    ForeignKeyConstraint(
        ["tenant", "memory_id"],
        ["memory.agent_memory.tenant", "memory.agent_memory.id"],
        ondelete="CASCADE",
    ),
    UniqueConstraint(
        "tenant",
        "memory_id",
        "written_by",
        "source_kind",
        "mission_namespace",
        "dispatch_id",
        "recalled_from",
        "absorbed_id",
        name="confirmations_origin",
        postgresql_nulls_not_distinct=True,
    ),
    Index(
        "confirmations_absorbed", "tenant", "absorbed_id", postgresql_where=text("absorbed_id IS NOT NULL")
    ),
    schema="memory",
)


def _private() -> Column[bool]:
    return Column("private", Boolean, nullable=False, server_default=text("false"))


agent_memory_chunks = schema.chunk_table(
    "memory",
    "agent_memory",
    "agent_memory_chunks",
    _private(),
    schema.body_column(),
    words="memory.scoped_words(tenant, scope, private, tsv)",
)
# What a copy of all that a tenant's agents share has not seen.
Index("agent_memory_chunks_recent", agent_memory_chunks.c.tenant, agent_memory_chunks.c.changed)
# A vector of a large tenant, in the HNSW index.
_large = Column("large", Boolean, nullable=False, server_default=text("false"))
agent_memory_vec = schema.vector_table("memory", "agent_memory", "agent_memory_vec", _private(), _large)
# For searches over all agents of a large tenant. All others are scanned exactly, and need no place in it.
Index(
    "agent_memory_vec_nearest",
    agent_memory_vec.c.embedding,
    postgresql_using="hnsw",
    postgresql_with={"ef_construction": 128},
    postgresql_ops={"embedding": "halfvec_cosine_ops"},
    postgresql_where=agent_memory_vec.c.large,
)
