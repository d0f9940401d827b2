"""The tables of consolidation: how far it is in each session, its runs, and what each run changed."""

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
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from shared.database.schema import Instant, metadata

_NOW = text("clock_timestamp()")

# One for each session. Whoever runs holds it until `leased_until`; a run that was broken off is gone on with.
consolidation_state = Table(
    "consolidation_state",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("scope", Text, nullable=False),
    Column("agent_name", Text),
    Column("user_id", Text),
    # The last event that was learned from.
    Column("position", BigInteger, nullable=False, server_default=text("0")),
    # The run that is not finished.
    Column("run_id", BigInteger),
    Column("holder", Text),
    Column("leased_until", Instant),
    PrimaryKeyConstraint("tenant", "session_id"),
    Index("consolidation_state_scope", "tenant", "scope"),
    Index(
        "consolidation_state_agent", "tenant", "agent_name", postgresql_where=text("agent_name IS NOT NULL")
    ),
    Index("consolidation_state_user", "tenant", "user_id", postgresql_where=text("user_id IS NOT NULL")),
    schema="memory",
)

# The SHA-256 of each file as it was when it was learned from.
consolidation_file_hashes = Table(
    "consolidation_file_hashes",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("path", Text, nullable=False),
    Column("scope", Text, nullable=False),
    Column("user_id", Text),
    Column("hash", LargeBinary, nullable=False),
    Column("run_id", BigInteger, nullable=False),
    Column("learned_at", Instant, nullable=False, server_default=_NOW),
    PrimaryKeyConstraint("tenant", "path"),
    Index("consolidation_file_hashes_scope", "tenant", "scope"),
    Index(
        "consolidation_file_hashes_user", "tenant", "user_id", postgresql_where=text("user_id IS NOT NULL")
    ),
    schema="memory",
)

# Of a session, or of a file.
consolidation_runs = Table(
    "consolidation_runs",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("id", BigInteger, Identity(always=True), nullable=False),
    Column("scope", Text, nullable=False),
    Column("session_id", Text),
    Column("path", Text),
    Column("agent_name", Text),
    Column("mission_id", Text),
    Column("user_id", Text),
    # The events behind `after`, up to `through`; `position` is how far it is.
    Column("after", BigInteger, nullable=False),
    Column("position", BigInteger, nullable=False),
    Column("through", BigInteger, nullable=False),
    Column("tally", JSONB, nullable=False, server_default=text("'{}'")),
    # How many turns or parts of them were not learned from, by reason.
    Column("skipped", JSONB, nullable=False, server_default=text("'{}'")),
    Column("written_by", Text, nullable=False),
    Column("started_at", Instant, nullable=False, server_default=_NOW),
    Column("finished_at", Instant),
    Column("undone_at", Instant),
    Column("undone_by", Text),
    PrimaryKeyConstraint("tenant", "id"),
    Index("consolidation_runs_scope", "tenant", "scope", "id"),
    Index("consolidation_runs_session", "tenant", "session_id", "id"),
    Index(
        "consolidation_runs_agent", "tenant", "agent_name", postgresql_where=text("agent_name IS NOT NULL")
    ),
    Index("consolidation_runs_user", "tenant", "user_id", postgresql_where=text("user_id IS NOT NULL")),
    schema="memory",
)

# A row that a run opened, closed, confirmed or disputed, with the turns that say so.
consolidation_changes = Table(
    "consolidation_changes",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("run_id", BigInteger, nullable=False),
    Column("number", Integer, nullable=False),
    Column("kind", Text, nullable=False),
    Column("action", Text, nullable=False),
    # Of the row. An alias has none.
    Column("item_id", BigInteger),
    Column("turns", ARRAY(BigInteger), nullable=False, server_default=text("'{}'")),
    Column("trust", Text),
    Column("why", Text),
    # What undoing needs to know: how the row was, and how the run left it.
    Column("undoing", JSONB),
    Column("changed_at", Instant, nullable=False, server_default=_NOW),
    PrimaryKeyConstraint("tenant", "run_id", "number"),
    ForeignKeyConstraint(
        ["tenant", "run_id"],
        ["memory.consolidation_runs.tenant", "memory.consolidation_runs.id"],
        ondelete="CASCADE",
    ),
    Index("consolidation_changes_item", "tenant", "kind", "item_id"),
    schema="memory",
)
