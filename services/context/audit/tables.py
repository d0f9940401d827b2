"""The audit, which no role may change, and the digests of what purges erased."""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Identity, LargeBinary, PrimaryKeyConstraint, Table, Text, text
from sqlalchemy.dialects.postgresql import ARRAY, JSONB

from shared.database.schema import Instant, metadata

audit = Table(
    "audit",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("id", BigInteger, Identity(always=True), nullable=False),
    Column("actor", Text, nullable=False),
    Column("agent_name", Text),
    Column("request_id", Text),
    Column("action", Text, nullable=False),
    Column("target", Text, nullable=False),
    Column("subjects", ARRAY(Text), nullable=False, server_default=text("'{}'")),
    Column("before", JSONB),
    Column("after", JSONB),
    Column("at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    PrimaryKeyConstraint("tenant", "id"),
    schema="timeline",
)

erased = Table(
    "erased",
    metadata,
    Column("digest", LargeBinary, primary_key=True),
    Column("at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    schema="timeline",
)
