"""The table of reviews of each owner."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    Identity,
    Index,
    PrimaryKeyConstraint,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from shared.database.schema import Instant, metadata


def reviews_table(schema: str) -> Table:
    """A write that waits, or waited, and a stored item that somebody reviewed.

    No store holds a write that waits: neither a search nor a list, a budget or a copy in memory can meet it.
    """
    return Table(
        "reviews",
        metadata,
        Column("tenant", Text, nullable=False),
        Column("id", BigInteger, Identity(always=True), nullable=False),
        Column("store", Text, nullable=False),
        Column("state", Text, nullable=False),
        # What the write became, or the item that was reviewed.
        Column("item_id", BigInteger),
        # The item that was reviewed; null for a write that waited.
        Column("marked", BigInteger),
        Column("scope", Text, nullable=False),
        Column("mission_id", Text),
        Column("agent_name", Text),
        Column("user_id", Text),
        # The scopes of whom it is about: a purge of one erases the row.
        Column("subjects", ARRAY(Text), nullable=False),
        # Whose rule it waits for.
        Column("rules", ARRAY(Text), nullable=False, server_default=text("'{}'")),
        # These four are gone once it is decided.
        Column("content", Text),
        Column("body", JSONB),
        Column("writer", JSONB),
        Column("written_by", Text),
        Column("source_kind", Text),
        Column("source_claim", Text),
        Column("decided_by", Text),
        Column("decided_at", Instant),
        Column("created_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
        PrimaryKeyConstraint("tenant", "id"),
        UniqueConstraint("tenant", "store", "marked", name="reviews_marked"),
        CheckConstraint(
            "state in ('waiting', 'approved', 'merged', 'edited', 'forgotten')", name="reviews_state"
        ),
        Index("reviews_waiting", "tenant", "id", postgresql_where=text("state = 'waiting'")),
        Index("reviews_item", "tenant", "store", "item_id"),
        schema=schema,
    )
