"""Tables of costs: calls, their sums, ceilings, and what is spent. Every service adds rows by a function."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Date,
    Index,
    LargeBinary,
    Numeric,
    PrimaryKeyConstraint,
    Table,
    Text,
    text,
)

from shared.database.schema import Instant, metadata

costs = Table(
    "costs",
    metadata,
    Column("id", BigInteger, nullable=False, server_default=text("nextval('timeline.costs_id_seq')")),
    Column("tenant", Text, nullable=False),
    Column("scope", Text, nullable=False),
    Column("service", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("agent_name", Text),
    Column("mission_id", Text),
    Column("session_id", Text),
    Column("input_tokens", BigInteger, nullable=False, server_default=text("0")),
    Column("output_tokens", BigInteger, nullable=False, server_default=text("0")),
    Column("cache_read_tokens", BigInteger, nullable=False, server_default=text("0")),
    Column("cache_write_tokens", BigInteger, nullable=False, server_default=text("0")),
    # Null where the model has no price, or its tokens are unknown.
    Column("cost_usd", Numeric),
    # What a call of unknown tokens may have cost.
    Column("estimated_usd", Numeric),
    Column("outcome", Text, nullable=False, server_default=text("'ok'")),
    # Whose call it was.
    Column("key", Text),
    Column("created_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    PrimaryKeyConstraint("id", "created_at"),
    Index("costs_tenant_created_at", "tenant", "created_at"),
    Index("costs_of_agent", "tenant", "agent_name", "created_at"),
    Index("costs_of_mission", "tenant", "mission_id", "created_at"),
    Index("costs_of_session", "tenant", "session_id", "created_at"),
    schema="timeline",
    postgresql_partition_by="RANGE (created_at)",
)

# What `costs` adds up to.
costs_by_day = Table(
    "costs_by_day",
    metadata,
    Column("tenant", Text, nullable=False),
    # In UTC.
    Column("day", Date, nullable=False),
    # Of all names. They are too long for an index.
    Column("digest", LargeBinary, nullable=False),
    Column("scope", Text, nullable=False),
    Column("service", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("model", Text, nullable=False),
    Column("agent_name", Text),
    Column("mission_id", Text),
    Column("session_id", Text),
    Column("key", Text),
    Column("calls", BigInteger, nullable=False),
    Column("input_tokens", Numeric, nullable=False),
    Column("output_tokens", Numeric, nullable=False),
    Column("cache_read_tokens", Numeric, nullable=False),
    Column("cache_write_tokens", Numeric, nullable=False),
    Column("cost_usd", Numeric, nullable=False),
    Column("estimated_usd", Numeric, nullable=False),
    Column("unpriced_calls", BigInteger, nullable=False),
    # Of those, the ones whose tokens are known: their model has no price.
    Column("unpriced_answers", BigInteger, nullable=False),
    PrimaryKeyConstraint("tenant", "day", "digest"),
    Index("costs_by_day_agent", "tenant", "agent_name", "day"),
    Index("costs_by_day_mission", "tenant", "mission_id", "day"),
    Index("costs_by_day_session", "tenant", "session_id", "day"),
    Index("costs_by_day_day", "day"),
    schema="timeline",
)

ceilings = Table(
    "ceilings",
    metadata,
    Column("tenant", Text, nullable=False),
    # Who pays: tenant, key:… or mission:….
    Column("subject", Text, nullable=False),
    # day, month or all.
    Column("period", Text, nullable=False),
    Column("limit_usd", Numeric, nullable=False),
    Column("set_by", Text, nullable=False),
    Column("updated_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    PrimaryKeyConstraint("tenant", "subject", "period"),
    schema="timeline",
)

spending = Table(
    "spending",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("subject", Text, nullable=False),
    # In UTC.
    Column("day", Date, nullable=False),
    Column("calls", BigInteger, nullable=False),
    # Calls whose cost is neither known nor estimated.
    Column("unpriced", BigInteger, nullable=False),
    Column("usd", Numeric, nullable=False),
    PrimaryKeyConstraint("tenant", "subject", "day"),
    schema="timeline",
)
