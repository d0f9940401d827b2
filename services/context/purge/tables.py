"""Purges of tenants that are not finished."""

from __future__ import annotations

from sqlalchemy import Column, Table, Text, text
from sqlalchemy.dialects.postgresql import JSONB

from shared.database.schema import Instant, metadata

tenant_purges = Table(
    "tenant_purges",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("actor", Text, nullable=False),
    Column("request_id", Text),
    Column("erased", JSONB, nullable=False, server_default=text("'{}'")),
    Column("begun_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    Column("worked_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    schema="context",
)
