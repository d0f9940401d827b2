"""The table of what sessions were given."""

from __future__ import annotations

from sqlalchemy import BigInteger, Boolean, Column, Identity, Index, PrimaryKeyConstraint, Table, Text, text
from sqlalchemy.dialects.postgresql import ARRAY

from shared.database.schema import Instant, metadata

session_given = Table(
    "session_given",
    metadata,
    Column("tenant", Text, nullable=False),
    # The key that asked, and the agent that it asked for.
    Column("key", Text, nullable=False),
    Column("caller", Text, nullable=False),
    Column("session_id", Text, nullable=False),
    Column("handle", Text, nullable=False),
    # The position of what was told of the same item before, 0 for the item itself: of two answers at once, one tells.
    Column("after", BigInteger, nullable=False),
    Column("position", BigInteger, Identity(always=True), nullable=False),
    # What the session knows of it: never content.
    Column("state", Text, nullable=False),
    # Where a purge finds it.
    Column("scopes", ARRAY(Text), nullable=False),
    Column("given_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    # An event has told the session that the item changed.
    Column("stale", Boolean, nullable=False, server_default=text("false")),
    PrimaryKeyConstraint("tenant", "key", "caller", "session_id", "handle", "after"),
    Index("session_given_given_at", "given_at"),
    # Of items, which events name, without their parts.
    Index(
        "session_given_item", "tenant", text("split_part(handle, '#', 1)"), postgresql_where=text("NOT stale")
    ),
    schema="context",
)
