"""The tables of facts and of the names of their entities."""

from __future__ import annotations

from sqlalchemy import (
    REAL,
    BigInteger,
    Boolean,
    CheckConstraint,
    Column,
    Identity,
    Index,
    Integer,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    text,
)

from shared.database import schema
from shared.database.schema import Instant, metadata

# `valid_from` and `valid_to` say when a fact holds, `recorded_at` and `superseded_at` when it was believed. The end of
# each is exclusive; null means that there is none. A current row keeps its id when its times change: what was believed
# before becomes a row of its own, a revision of it.
facts = Table(
    "facts",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("id", BigInteger, Identity(always=True), nullable=False),
    Column("scope", Text, nullable=False),
    Column("user_id", Text),
    Column("agent_name", Text),
    # As they were written. The keys are what is compared: names without case and spacing, of aliases their entity's.
    Column("subject", Text, nullable=False),
    Column("predicate", Text, nullable=False),
    Column("object", Text, nullable=False),
    Column("subject_key", Text, nullable=False),
    Column("predicate_key", Text, nullable=False),
    Column("object_key", Text, nullable=False),
    Column("confidence", REAL, nullable=False, server_default=text("1")),
    Column("valid_from", Instant, nullable=False),
    Column("valid_to", Instant),
    Column("recorded_at", Instant, nullable=False),
    Column("superseded_at", Instant),
    # Written as the only value of its predicate.
    Column("single", Boolean, nullable=False, server_default=text("false")),
    Column("revision_of", BigInteger),
    # The key that last closed it.
    Column("closed_by", Text),
    # The file that it is from, whose facts are replaced together and change no others.
    Column("source", Text),
    # Where the file states it: its line, and the piece of the upload.
    Column("line", Integer),
    Column("piece", SmallInteger),
    *schema.provenance(),
    Column("dispatch_id", BigInteger),
    PrimaryKeyConstraint("tenant", "id"),
    CheckConstraint("valid_to > valid_from", name="facts_valid"),
    Index(
        "facts_open",
        "tenant",
        "scope",
        "user_id",
        "source",
        "subject_key",
        "predicate_key",
        "object_key",
        unique=True,
        postgresql_nulls_not_distinct=True,
        postgresql_where=text("superseded_at IS NULL AND valid_to IS NULL"),
    ),
    Index("facts_subject", "tenant", "subject_key", "predicate_key"),
    Index("facts_object", "tenant", "object_key"),
    Index("facts_predicate", "tenant", "predicate_key", "id"),
    Index("facts_scope", "tenant", "scope", "id"),
    Index("facts_user", "tenant", "user_id", postgresql_where=text("user_id IS NOT NULL")),
    Index("facts_agent", "tenant", "agent_name", postgresql_where=text("agent_name IS NOT NULL")),
    Index("facts_source", "tenant", "scope", "source", postgresql_where=text("source IS NOT NULL")),
    Index("facts_revision", "tenant", "revision_of", postgresql_where=text("revision_of IS NOT NULL")),
    schema="memory",
)

entity_aliases = Table(
    "entity_aliases",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("scope", Text, nullable=False),
    Column("alias_key", Text, nullable=False),
    Column("alias", Text, nullable=False),
    Column("entity", Text, nullable=False),
    Column("entity_key", Text, nullable=False),
    Column("agent_name", Text),
    Column("written_by", Text, nullable=False),
    Column("source_kind", Text, nullable=False),
    Column("source_claim", Text),
    Column("created_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    PrimaryKeyConstraint("tenant", "scope", "alias_key"),
    CheckConstraint("alias_key <> entity_key", name="entity_aliases_other"),
    Index("entity_aliases_alias", "tenant", "alias_key"),
    Index("entity_aliases_entity", "tenant", "scope", "entity_key"),
    schema="memory",
)
