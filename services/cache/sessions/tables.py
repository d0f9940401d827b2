"""The tables of the schema `sessions`."""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    REAL,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    ForeignKeyConstraint,
    Identity,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, UUID

from shared.database import schema
from shared.database.schema import Instant, metadata

_SCHEMA = "sessions"


def _id() -> Column[Any]:
    return Column("id", UUID, nullable=False, server_default=text("gen_random_uuid()"))


def _now(name: str) -> Column[Any]:
    return Column(name, Instant, nullable=False, server_default=text("clock_timestamp()"))


def _count(name: str, kind: Any = Integer) -> Column[Any]:
    return Column(name, kind, nullable=False, server_default=text("0"))


def _list(name: str) -> Column[Any]:
    return Column(name, JSONB, nullable=False, server_default=text("'[]'"))


def _of_session() -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["tenant", "session_id"], ["sessions.sessions.tenant", "sessions.sessions.id"], ondelete="CASCADE"
    )


def _of_object(column: str) -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["tenant", column],
        ["sessions.semantic_objects.tenant", "sessions.semantic_objects.id"],
        ondelete="CASCADE",
    )


sessions = Table(
    "sessions",
    metadata,
    Column("tenant", Text, nullable=False),
    _id(),
    # The host's own name for it; its id where the host gave none.
    Column("external_id", Text, nullable=False),
    # Its mission's, or else its agent's, its user's or everybody's. A purge of the scope erases it.
    Column("scope", Text, nullable=False),
    Column("agent_name", Text),
    Column("mission_id", Text),
    Column("user_id", Text),
    Column("model", Text, nullable=False, server_default=text("''")),
    # active, completed or abandoned.
    Column("status", Text, nullable=False, server_default=text("'active'")),
    Column("config", JSONB, nullable=False, server_default=text("'{}'")),
    Column("goal", Text),
    # Letters for the nonce of its blocks, which must stay the same from one block to the next.
    Column("marks", Text, nullable=False),
    Column("written_by", Text, nullable=False),
    _count("total_turns"),
    _count("total_objects"),
    _count("total_faults"),
    _count("total_micro_faults"),
    # The number of the trail's last event, and the last place given to an object. Writers lock the row to take one.
    _count("last_seq", BigInteger),
    _count("last_place", BigInteger),
    _now("created_at"),
    _now("last_active_at"),
    Column("closed_at", Instant),
    PrimaryKeyConstraint("tenant", "id"),
    UniqueConstraint("tenant", "external_id"),
    Index("sessions_created", "tenant", "created_at", "id"),
    Index("sessions_scope", "tenant", "scope"),
    Index("sessions_agent", "tenant", "agent_name", postgresql_where=text("agent_name IS NOT NULL")),
    Index("sessions_mission", "tenant", "mission_id", postgresql_where=text("mission_id IS NOT NULL")),
    Index("sessions_user", "tenant", "user_id", postgresql_where=text("user_id IS NOT NULL")),
    Index("sessions_active", "tenant", "last_active_at", postgresql_where=text("status = 'active'")),
    schema=_SCHEMA,
)

trail = Table(
    "trail",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("session_id", UUID, nullable=False),
    Column("seq", BigInteger, nullable=False),
    # message, tool_call, tool_result, compaction or reset.
    Column("kind", Text, nullable=False),
    Column("role", Text, nullable=False),
    # A list of neutral blocks. Of an image it holds the hash and not the bytes.
    Column("content", JSONB, nullable=False),
    Column("token_count", Integer, nullable=False),
    Column("turn", Integer, nullable=False),
    Column("written_by", Text, nullable=False),
    Column("occurred_at", Instant),
    _now("created_at"),
    PrimaryKeyConstraint("tenant", "session_id", "seq"),
    _of_session(),
    schema=_SCHEMA,
)

# The state of a conversation, for a fast resume. It follows from the trail, and is made of it again when it does not.
snapshots = Table(
    "snapshots",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("session_id", UUID, nullable=False),
    # The last event that it includes. Events up to `since` are no longer part of the conversation.
    Column("through", BigInteger, nullable=False),
    Column("since", BigInteger, nullable=False),
    Column("summary", Text),
    Column("messages", Integer, nullable=False),
    Column("token_count", BigInteger, nullable=False),
    Column("digest", LargeBinary, nullable=False),
    _now("updated_at"),
    PrimaryKeyConstraint("tenant", "session_id"),
    _of_session(),
    schema=_SCHEMA,
)

semantic_objects = Table(
    "semantic_objects",
    metadata,
    Column("tenant", Text, nullable=False),
    _id(),
    # For search, whose tables know items by number.
    Column("number", BigInteger, Identity(always=True), nullable=False),
    Column("session_id", UUID, nullable=False),
    Column("object_type", Text, nullable=False),
    Column("source_tool", Text),
    Column("source_key", Text),
    _count("segment"),
    # L0, L1, L2 and L3.
    Column("content_full", Text, nullable=False),
    Column("content_hash", LargeBinary, nullable=False),
    Column("summary_detailed", Text),
    Column("summary_compact", Text),
    Column("stub", Text, nullable=False),
    _list("losses_l1"),
    _list("losses_l2"),
    _list("can_answer_l1"),
    _list("can_answer_l2"),
    _list("fault_when"),
    _list("key_entities"),
    Column("tags", ARRAY(Text), nullable=False, server_default=text("'{}'")),
    # 4 is evicted.
    _count("current_fidelity", SmallInteger),
    Column("pinned", Boolean, nullable=False, server_default=text("false")),
    # The turn through which a fault pins it. Null with `pinned`: until it is unpinned.
    Column("pinned_until", Integer),
    Column("pin_reason", Text),
    # The newer version of the same part of its source.
    Column("superseded_by", UUID),
    # Where the block shows it, and how. Both stay until the next batch: a host has sent them. What a fault brought back
    # stands behind everything else, at `risen_place`.
    Column("place", BigInteger, nullable=False),
    _count("sent_fidelity", SmallInteger),
    Column("risen_place", BigInteger),
    Column("risen_fidelity", SmallInteger),
    _now("created_at"),
    _now("last_accessed"),
    Column("created_turn", Integer, nullable=False),
    Column("last_accessed_turn", Integer, nullable=False),
    _count("access_count"),
    _count("fault_count"),
    _count("micro_fault_count"),
    Column("tokens_l0", Integer, nullable=False),
    Column("tokens_l1", Integer),
    Column("tokens_l2", Integer),
    Column("tokens_l3", Integer, nullable=False),
    Column("source_turn_start", Integer),
    Column("source_turn_end", Integer),
    Column("start_line", Integer),
    Column("end_line", Integer),
    PrimaryKeyConstraint("tenant", "id"),
    UniqueConstraint("tenant", "number"),
    CheckConstraint("current_fidelity between 0 and 4", name="semantic_objects_fidelity"),
    _of_session(),
    Index("semantic_objects_session", "tenant", "session_id", "place"),
    Index(
        "semantic_objects_source",
        "tenant",
        "session_id",
        "source_key",
        postgresql_where=text("source_key IS NOT NULL AND superseded_by IS NULL"),
    ),
    schema=_SCHEMA,
)

# Chunks and vectors know an object by its number.
object_chunks = schema.chunk_table(
    _SCHEMA,
    "semantic_objects",
    "object_chunks",
    Index("object_chunks_scope", "tenant", "scope"),
    words="cache.scoped_words(tenant, scope, tsv)",
    key="number",
    copied=False,
)
object_vec = schema.vector_table(_SCHEMA, "semantic_objects", "object_vec", key="number")

object_relationships = Table(
    "object_relationships",
    metadata,
    Column("tenant", Text, nullable=False),
    _id(),
    Column("session_id", UUID, nullable=False),
    Column("source_id", UUID, nullable=False),
    Column("target_id", UUID, nullable=False),
    # parent_of, caused_by, references, supersedes or depends_on.
    Column("relationship", Text, nullable=False),
    Column("metadata", JSONB, nullable=False, server_default=text("'{}'")),
    _now("created_at"),
    PrimaryKeyConstraint("tenant", "id"),
    UniqueConstraint("tenant", "source_id", "target_id", "relationship", name="object_relationships_edge"),
    _of_session(),
    _of_object("source_id"),
    _of_object("target_id"),
    Index("object_relationships_target", "tenant", "target_id"),
    Index("object_relationships_session", "tenant", "session_id"),
    schema=_SCHEMA,
)


def _history(name: str, object_id: Column[Any], *columns: Any) -> Table:
    """An append-only table about objects, in the order of `number`."""
    return Table(
        name,
        metadata,
        Column("tenant", Text, nullable=False),
        _id(),
        Column("number", BigInteger, Identity(always=True), nullable=False),
        Column("session_id", UUID, nullable=False),
        object_id,
        *columns,
        _now("created_at"),
        PrimaryKeyConstraint("tenant", "id"),
        _of_session(),
        _of_object("object_id"),
        Index(f"{name}_session", "tenant", "session_id", "number"),
        schema=_SCHEMA,
    )


fault_history = _history(
    "fault_history",
    Column("object_id", UUID, nullable=False),
    # full_restore, micro_fault or entropy_triggered.
    Column("fault_type", Text, nullable=False),
    Column("turn_number", Integer, nullable=False),
    Column("content_hash", Text, nullable=False),
    Column("question", Text),
    Column("answer", Text),
    Column("answer_tokens", Integer),
    Column("avoided_tokens", Integer),
    Column("latency_ms", Integer),
    Index("fault_history_object", "tenant", "object_id"),
    Index("fault_history_content", "tenant", "session_id", "content_hash"),
)

fidelity_transitions = _history(
    "fidelity_transitions",
    Column("object_id", UUID, nullable=False),
    Column("from_fidelity", SmallInteger, nullable=False),
    Column("to_fidelity", SmallInteger, nullable=False),
    # pressure, access, fault, cooperative or goal_change.
    Column("trigger", Text, nullable=False),
    Column("turn_number", Integer, nullable=False),
    Column("pressure_zone", Text),
    Column("token_count", Integer),
    Index("fidelity_transitions_object", "tenant", "object_id"),
)

admission_scores = _history(
    "admission_scores",
    # Null: rejected.
    Column("object_id", UUID),
    Column("admitted", Boolean, nullable=False),
    Column("score_total", REAL, nullable=False),
    Column("score_type", REAL, nullable=False),
    Column("score_novelty", REAL, nullable=False),
    Column("score_utility", REAL, nullable=False),
    Column("score_recency", REAL, nullable=False),
    Column("threshold", REAL, nullable=False),
    Column("content_preview", Text),
    Index("admission_scores_object", "tenant", "object_id", postgresql_where=text("object_id IS NOT NULL")),
)
