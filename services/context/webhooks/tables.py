"""Tables of webhooks: where events go, what waits in which order, and what became of each."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
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
    Uuid,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY

from shared.database.schema import Instant, metadata

webhooks = Table(
    "webhooks",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("id", BigInteger, Identity(always=True), nullable=False),
    Column("url", Text, nullable=False),
    Column("description", Text),
    # What is sent; null: whatever its key may read.
    Column("kinds", ARRAY(Text)),
    Column("missions", ARRAY(Text)),
    Column("agents", ARRAY(Text)),
    # The key that answers for it, and what that key may read.
    Column("held_by", Text, nullable=False),
    Column("agent_bound", Text),
    Column("mission_bound", ARRAY(Text)),
    Column("user_bound", ARRAY(Text)),
    Column("secret", LargeBinary, nullable=False),
    # The previous secret, which signs too until `old_secret_until`.
    Column("old_secret", LargeBinary),
    Column("old_secret_until", Instant),
    Column("status", Text, nullable=False, server_default=text("'active'")),
    Column("paused_because", Text),
    # The number of the last event that was looked at.
    Column("position", BigInteger, nullable=False),
    Column("failing_since", Instant),
    Column("created_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    PrimaryKeyConstraint("tenant", "id"),
    schema="context",
)

webhook_lanes = Table(
    "webhook_lanes",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("webhook_id", BigInteger, nullable=False),
    # Events of one scope go out one after the other.
    Column("scope", Text, nullable=False),
    # When somebody may send its first event: the next attempt, or the end of a lease.
    Column("due_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    Column("lease", Uuid),
    PrimaryKeyConstraint("tenant", "webhook_id", "scope"),
    ForeignKeyConstraint(
        ["tenant", "webhook_id"], ["context.webhooks.tenant", "context.webhooks.id"], ondelete="CASCADE"
    ),
    Index("webhook_lanes_due", "tenant", "webhook_id", "due_at"),
    schema="context",
)

webhook_deliveries = Table(
    "webhook_deliveries",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("webhook_id", BigInteger, nullable=False),
    # The event's number, scope, kind and time.
    Column("seq", BigInteger, nullable=False),
    Column("scope", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("event_at", Instant, nullable=False),
    Column("status", Text, nullable=False, server_default=text("'waiting'")),
    Column("attempts", Integer, nullable=False, server_default=text("0")),
    # Of the last attempt: the HTTP status that came, or why none did.
    Column("http_status", SmallInteger),
    Column("error", Text),
    Column("attempted_at", Instant),
    Column("settled_at", Instant),
    PrimaryKeyConstraint("tenant", "webhook_id", "seq"),
    ForeignKeyConstraint(
        ["tenant", "webhook_id"], ["context.webhooks.tenant", "context.webhooks.id"], ondelete="CASCADE"
    ),
    Index(
        "webhook_deliveries_waiting",
        "tenant",
        "webhook_id",
        "scope",
        "seq",
        postgresql_where=text("status = 'waiting'"),
    ),
    Index(
        "webhook_deliveries_status",
        "tenant",
        "webhook_id",
        "status",
        "seq",
    ),
    Index("webhook_deliveries_settled_at", "settled_at", postgresql_where=text("settled_at IS NOT NULL")),
    Index("webhook_deliveries_scope", "tenant", "scope"),
    schema="context",
)
