"""The schema `memory`: what agents learned, its chunks and vectors."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
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
from sqlalchemy.dialects.postgresql import ARRAY

from shared import schema
from shared.schema import Instant, metadata

agent_memory = Table(
    "agent_memory",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("id", BigInteger, Identity(always=True), nullable=False),
    Column("agent_name", Text, nullable=False),
    Column("scope", Text, Computed("'agent:' || agent_name", persisted=True), nullable=False),
    Column("content", Text, nullable=False),
    Column("content_hash", LargeBinary, nullable=False),
    Column("memory_type", Text, nullable=False),
    Column("task_description", Text),
    Column("skills_used", ARRAY(Text), nullable=False, server_default=text("'{}'")),
    Column("outcome", Text),
    Column("mission_namespace", Text),
    Column("private", Boolean, nullable=False, server_default=text("false")),
    Column("token_count", Integer, nullable=False),
    Column("chunks", Integer, nullable=False),
    Column("access_count", BigInteger, nullable=False, server_default=text("0")),
    Column("confirmed_count", BigInteger, nullable=False, server_default=text("0")),
    *schema.when_and_where(),
    *schema.provenance(),
    Column("created_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    Column("updated_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    PrimaryKeyConstraint("tenant", "id"),
    # Long agent names and any content: the hash keeps the key short.
    UniqueConstraint("tenant", "agent_name", "content_hash"),
    Index("agent_memory_agent", "tenant", "agent_name", "created_at"),
    Index(
        "agent_memory_session_seq",
        "tenant",
        "scope",
        "session_id",
        "seq",
        postgresql_where=text("seq IS NOT NULL"),
    ),
    schema="memory",
)


def _private() -> Column[bool]:
    return Column("private", Boolean, nullable=False, server_default=text("false"))


agent_memory_chunks = schema.chunk_table("memory", "agent_memory", "agent_memory_chunks", _private())
agent_memory_vec = schema.vector_table("memory", "agent_memory", "agent_memory_vec", _private())
# For searches over all agents of a large tenant; an agent's own are scanned exactly.
Index(
    "agent_memory_vec_nearest",
    agent_memory_vec.c.embedding,
    postgresql_using="hnsw",
    postgresql_ops={"embedding": "halfvec_cosine_ops"},
)
index_queue = schema.index_queue_table("memory", "agent_memory")
idempotency = schema.idempotency_table("memory")
embedding_cache = schema.embedding_cache_table("memory")
