"""Tables of weights and budgets."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    Identity,
    Index,
    Integer,
    PrimaryKeyConstraint,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import REAL

from shared.database.schema import Instant, metadata

source_weights = Table(
    "source_weights",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("caller", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("weight", REAL, nullable=False),
    Column("token_share", REAL, nullable=False),
    Column("manual", Boolean, nullable=False, server_default=text("false")),
    Column("updated_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    PrimaryKeyConstraint("tenant", "caller", "source"),
    schema="context",
)

source_weight_history = Table(
    "source_weight_history",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("id", BigInteger, Identity(always=True), nullable=False),
    Column("caller", Text, nullable=False),
    Column("source", Text, nullable=False),
    Column("old_weight", REAL, nullable=False),
    Column("new_weight", REAL, nullable=False),
    Column("old_token_share", REAL, nullable=False),
    Column("new_token_share", REAL, nullable=False),
    # `eval` or `operator`. An evaluation also fills the columns below.
    Column("cause", Text, nullable=False),
    Column("effectiveness", REAL),
    Column("assemblies", Integer),
    Column("created_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    PrimaryKeyConstraint("tenant", "id"),
    Index("source_weight_history_caller", "tenant", "caller", "created_at"),
    schema="context",
)

caller_budget_config = Table(
    "caller_budget_config",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("caller", Text, nullable=False),
    Column("default_budget", Integer, nullable=False),
    Column("min_budget", Integer, nullable=False),
    Column("max_budget", Integer, nullable=False),
    # The largest budget of any request. Null: only the installation's limit applies.
    Column("ceiling", Integer),
    Column("manual", Boolean, nullable=False, server_default=text("false")),
    Column("updated_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    PrimaryKeyConstraint("tenant", "caller"),
    schema="context",
)
