"""What the schemas have in common: one metadata, columns that every remembered row carries, grants.

SQLAlchemy describes the tables so that migrations can be checked against them; nothing runs it at run time.
"""

from __future__ import annotations

import importlib.util
import os
import pkgutil
from pathlib import Path
from typing import Any

from pgvector.sqlalchemy import HALFVEC
from sqlalchemy import (
    BigInteger,
    Column,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB, REAL, TIMESTAMP, TSVECTOR

metadata = MetaData(
    naming_convention={
        "ix": "%(table_name)s_%(column_0_N_name)s",
        "uq": "%(table_name)s_%(column_0_N_name)s_key",
        "fk": "%(table_name)s_%(column_0_N_name)s_fkey",
        "pk": "%(table_name)s_pkey",
    }
)

FUNCTIONS = Path(__file__).resolve().parents[2] / "alembic" / "functions"
DIMENSIONS = 512
Instant = TIMESTAMP(timezone=True)


def role(service: str) -> str | None:
    """The database role that a service connects as, when the deployment gave one."""
    return os.environ.get(f"SCRUBJAY_ROLE_{service.upper()}") or None


def import_tables(package: str) -> None:
    """Imports `tables` of every room of a service, which describe themselves to the one metadata."""
    rooms = pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}.")
    for room in rooms:
        if room.ispkg and importlib.util.find_spec(f"{room.name}.tables") is not None:
            importlib.import_module(f"{room.name}.tables")


def grants(service: str, *statements: str) -> list[str]:
    """GRANT statements for a service's role; none when services connect as the owner. `{role}` is its name."""
    name = role(service)
    if name is None:
        return []
    quoted = '"' + name.replace('"', '""') + '"'
    return [statement.format(role=quoted) for statement in statements]


def statements(ddl: str) -> list[str]:
    """A block of DDL, one statement at a time: the driver prepares each. Functions have files of their own."""
    return [statement.strip() for statement in ddl.split(";\n") if statement.strip()]


def function(version: str) -> str:
    """The statement that creates or replaces a function, by the name of its file: `cache.put_entries_v1`.

    A version that a migration ran never changes: a change is a new file and a new migration.
    """
    return (FUNCTIONS / f"{version}.sql").read_text()


def when_and_where() -> list[Column[Any]]:
    """What a writer may say about an item besides its content."""
    return [
        Column("occurred_at", Instant),
        Column("session_id", Text),
        Column("seq", BigInteger),
        Column("speaker", Text),
    ]


def provenance() -> list[Column[Any]]:
    """Stamped by the server: the key that wrote, how, and the assembly it was recalled from, if any."""
    return [
        Column("written_by", Text, nullable=False),
        Column("source_kind", Text, nullable=False),
        Column("recalled_from", BigInteger),
    ]


def _of_item(schema: str, items: str) -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["tenant", "item_id"], [f"{schema}.{items}.tenant", f"{schema}.{items}.id"], ondelete="CASCADE"
    )


def chunk_table(schema: str, items: str, name: str, *extra: Column[Any]) -> Table:
    """Where an item's chunks stand in its text (characters, end exclusive), and their words for full text."""
    return Table(
        name,
        metadata,
        Column("tenant", Text, nullable=False),
        Column("scope", Text, nullable=False),
        Column("item_id", BigInteger, nullable=False),
        Column("chunk", SmallInteger, nullable=False),
        Column("chunks", SmallInteger, nullable=False),
        Column("start", Integer, nullable=False),
        Column("stop", Integer, nullable=False),
        Column("words", Integer, nullable=False),
        Column("expires_at", Instant, nullable=False, server_default=text("'infinity'")),
        # The words with their weights and places: the evidence.
        Column("tsv", TSVECTOR, nullable=False),
        # The same words, each begun with the key of its scope: the index. A search reads its own scope's
        # postings only, however large the table.
        Column("scoped", TSVECTOR, nullable=False),
        *extra,
        PrimaryKeyConstraint("tenant", "item_id", "chunk"),
        _of_item(schema, items),
        Index(f"{name}_scope", "tenant", "scope"),
        Index(f"{name}_scoped", "scoped", postgresql_using="gin"),
        schema=schema,
    )


def vector_table(schema: str, items: str, name: str, *extra: Column[Any]) -> Table:
    """One vector an (item, chunk, model). Narrow, so that a scan of one scope reads the covering index only."""
    return Table(
        name,
        metadata,
        Column("tenant", Text, nullable=False),
        Column("scope", Text, nullable=False),
        Column("item_id", BigInteger, nullable=False),
        Column("chunk", SmallInteger, nullable=False),
        Column("model", Text, nullable=False),
        Column("expires_at", Instant, nullable=False, server_default=text("'infinity'")),
        Column("embedding", HALFVEC(DIMENSIONS), nullable=False),
        *extra,
        PrimaryKeyConstraint("tenant", "item_id", "chunk", "model"),
        _of_item(schema, items),
        Index(
            f"{name}_scope",
            "tenant",
            "scope",
            "model",
            postgresql_include=["item_id", "chunk", "expires_at", *(c.name for c in extra), "embedding"],
        ),
        schema=schema,
    )


def index_queue_table(schema: str) -> Table:
    """Items of the schema's stores that wait for their vectors. Any replica may lease a row; the database's clock
    decides.

    Whoever deletes an item deletes its row here: items of several stores wait in one queue, and may share an id.
    """
    return Table(
        "index_queue",
        metadata,
        Column("tenant", Text, nullable=False),
        Column("store", Text, nullable=False),
        Column("item_id", BigInteger, nullable=False),
        Column("scope", Text, nullable=False),
        Column("model", Text, nullable=False),
        Column("attempts", Integer, nullable=False, server_default=text("0")),
        Column("due_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
        PrimaryKeyConstraint("tenant", "store", "item_id", "model"),
        Index("index_queue_due", "model", "due_at"),
        schema=schema,
    )


def idempotency_table(schema: str) -> Table:
    """The first answer to a keyed write: ids and counts, never content. Committed with the write."""
    return Table(
        "idempotency",
        metadata,
        Column("tenant", Text, nullable=False),
        Column("key", Text, nullable=False),
        Column("route", Text, nullable=False),
        Column("scope", Text, nullable=False),
        Column("body_hash", LargeBinary, nullable=False),
        Column("status", SmallInteger, nullable=False),
        Column("answer", JSONB, nullable=False),
        Column("created_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
        PrimaryKeyConstraint("tenant", "key"),
        Index("idempotency_created_at", "created_at"),
        schema=schema,
    )


def embedding_cache_table(schema: str) -> Table:
    return Table(
        "embedding_cache",
        metadata,
        Column("key", LargeBinary, primary_key=True),
        Column("embedding", HALFVEC(DIMENSIONS), nullable=False),
        Column("used_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
        Index("embedding_cache_used_at", "used_at"),
        schema=schema,
    )


timeline_events = Table(
    "events",
    metadata,
    Column("id", BigInteger, nullable=False, server_default=text("nextval('timeline.events_id_seq')")),
    Column("seq", BigInteger),
    Column("tenant", Text, nullable=False),
    Column("scope", Text, nullable=False),
    Column("kind", Text, nullable=False),
    Column("mission_id", Text),
    Column("agent_name", Text),
    Column("session_id", Text),
    Column("dispatch_id", BigInteger),
    Column("payload", JSONB, nullable=False, server_default=text("'{}'")),
    Column("created_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    PrimaryKeyConstraint("id", "created_at"),
    Index("events_unnumbered", "id", postgresql_where=text("seq IS NULL")),
    Index("events_tenant_seq", "tenant", "seq"),
    Index("events_tenant_scope", "tenant", "scope"),
    schema="timeline",
    postgresql_partition_by="RANGE (created_at)",
)

timeline_costs = Table(
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
    Column("cost_usd", REAL, nullable=False, server_default=text("0")),
    Column("created_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    PrimaryKeyConstraint("id", "created_at"),
    Index("costs_tenant_created_at", "tenant", "created_at"),
    schema="timeline",
    postgresql_partition_by="RANGE (created_at)",
)

timeline_sequencer = Table(
    "sequencer",
    metadata,
    Column("id", SmallInteger, primary_key=True, server_default=text("1")),
    Column("last", BigInteger, nullable=False, server_default=text("0")),
    schema="timeline",
)
