"""The table of missions: their limits, languages and counters."""

from __future__ import annotations

from sqlalchemy import (
    REAL,
    BigInteger,
    Column,
    Computed,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    text,
)

from shared.database.schema import Instant, metadata

missions = Table(
    "missions",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("mission_id", Text, nullable=False),
    Column("scope", Text, Computed("'mission:' || mission_id", persisted=True), nullable=False),
    # Null means the installation's default.
    Column("token_budget", Integer),
    Column("entry_budget", Integer),
    Column("ttl_hours", REAL),
    Column("tokens", Integer, nullable=False, server_default=text("0")),
    Column("entries", Integer, nullable=False, server_default=text("0")),
    Column("written_count", BigInteger, nullable=False, server_default=text("0")),
    Column("evicted_count", BigInteger, nullable=False, server_default=text("0")),
    Column("expired_count", BigInteger, nullable=False, server_default=text("0")),
    Column("cleared_count", BigInteger, nullable=False, server_default=text("0")),
    # No entry up to this id is left to evict, so the search for the oldest can start here.
    Column("evicted_up_to", BigInteger, nullable=False, server_default=text("0")),
    # Never later than the first expiry among the live entries.
    Column("next_expiry", Instant, nullable=False, server_default=text("'infinity'")),
    Column("created_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    Column("last_write_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    # Null means the tenant's.
    Column("language", Text),
    PrimaryKeyConstraint("tenant", "mission_id"),
    Index("missions_language", "tenant", "mission_id", postgresql_where=text("language IS NOT NULL")),
    schema="cache",
)
