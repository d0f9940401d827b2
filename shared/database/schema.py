"""What the schemas share: one metadata, the columns of every remembered row, grants.

SQLAlchemy describes the tables only so that migrations can be checked against them. No service uses it at run time.
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
    Boolean,
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
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, TIMESTAMP, TSVECTOR

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
    """The database role that a service connects as, if the deployment set one."""
    return os.environ.get(f"SCRUBJAY_ROLE_{service.upper()}") or None


def import_tables(package: str) -> None:
    """Imports `tables` of every package in a service, which registers them with the metadata."""
    rooms = pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}.")
    for room in rooms:
        if room.ispkg and importlib.util.find_spec(f"{room.name}.tables") is not None:
            importlib.import_module(f"{room.name}.tables")


def grants(service: str, *statements: str) -> list[str]:
    """GRANT statements, with a service's role for `{role}`. None when services connect as the owner."""
    name = role(service)
    if name is None:
        return []
    quoted = '"' + name.replace('"', '""') + '"'
    return [statement.format(role=quoted) for statement in statements]


def statements(ddl: str) -> list[str]:
    """Splits a block of DDL, because the driver takes one statement at a time. Functions have their own files."""
    return [statement.strip() for statement in ddl.split(";\n") if statement.strip()]


def function(version: str) -> str:
    """The statement that creates or replaces a function, from its file: `cache.put_entries_v1`.

    Never change a version that a migration has run: add a file and a migration.
    """
    return (FUNCTIONS / f"{version}.sql").read_text()


def when_and_where() -> list[Column[Any]]:
    """The optional columns in which a writer says when and where an item arose."""
    return [
        Column("occurred_at", Instant),
        Column("session_id", Text),
        Column("seq", BigInteger),
        Column("speaker", Text),
    ]


def about_code() -> list[Column[Any]]:
    """What a writer says of the code that an item is about, besides what its text shows."""
    return [
        Column("paths", ARRAY(Text), nullable=False, server_default=text("'{}'")),
        Column("symbols", ARRAY(Text), nullable=False, server_default=text("'{}'")),
        Column("step", Text),
    ]


def provenance() -> list[Column[Any]]:
    """The server sets these: the key that wrote, the kind of source, and the assembly that led to the item, if any.

    `source_claim` is the kind that the writer names, where its key may not say so.
    """
    return [
        Column("written_by", Text, nullable=False),
        Column("source_kind", Text, nullable=False),
        Column("source_claim", Text),
        Column("recalled_from", BigInteger),
    ]


def _of_item(schema: str, items: str, key: str) -> ForeignKeyConstraint:
    return ForeignKeyConstraint(
        ["tenant", "item_id"], [f"{schema}.{items}.tenant", f"{schema}.{items}.{key}"], ondelete="CASCADE"
    )


def body_column() -> Column[str]:
    """For a table of chunks: each one's text, where an item has several. Null: it is cut from the item's."""
    return Column("body", Text)


def chunk_table(
    schema: str,
    items: str,
    name: str,
    *extra: Column[Any] | Index,
    words: str,
    key: str = "id",
    copied: bool = True,
) -> Table:
    """The offsets of an item's chunks in its text (characters, end exclusive), and their words for full-text search.

    `words` is the expression of what the index of words holds, `key` the column of items that is their id here.
    `copied`: copies of its scopes may be held in memory.
    """
    for_copies = [
        # Written by the release before; goes with the next one. The index of words computes it.
        Column("scoped", TSVECTOR),
        *extra,
        # The transaction that wrote the row. A copy of the scope reads what its snapshot has not seen. Null: written
        # before the column was there.
        Column("changed", BigInteger, server_default=text("pg_current_xact_id()::text::bigint")),
        Index(f"{name}_changed", "tenant", "scope", "changed"),
    ]
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
        # The words with their weights and positions, which are the evidence.
        Column("tsv", TSVECTOR, nullable=False),
        *(for_copies if copied else extra),
        PrimaryKeyConstraint("tenant", "item_id", "chunk"),
        _of_item(schema, items, key),
        # The words, each prefixed with the key of its scope. A search reads only its own scope's postings, however
        # large the table.
        Index(f"{name}_words", text(words), postgresql_using="gin"),
        schema=schema,
    )


def vector_table(schema: str, items: str, name: str, *extra: Column[Any], key: str = "id") -> Table:
    """One vector per item, chunk and model."""
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
        _of_item(schema, items, key),
        Index(f"{name}_of_scope", "tenant", "scope", "model"),
        schema=schema,
    )


def index_queue_table(schema: str) -> Table:
    """Items that wait for their vectors. Any replica may lease a row, timed by the database's clock.

    Whoever deletes an item also deletes its row here. No foreign key can: the queue serves several stores.
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
        Index("index_queue_turn", "model", "tenant", "due_at"),
        schema=schema,
    )


def idempotency_table(schema: str) -> Table:
    """The first answer to a keyed write: ids and counts, never content. It commits with the write."""
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
        # The scopes of whom it is about: a purge of one erases the record.
        Column("subjects", ARRAY(Text), nullable=False, server_default=text("'{}'")),
        PrimaryKeyConstraint("tenant", "key"),
        Index("idempotency_created_at", "created_at"),
        schema=schema,
    )


def embedding_cache_table(schema: str) -> Table:
    return Table(
        "embedding_cache",
        metadata,
        # Part of the hash in `key` too; here so that a purge finds a tenant's rows.
        Column("tenant", Text, nullable=False, server_default=text("''")),
        Column("key", LargeBinary, primary_key=True),
        Column("embedding", HALFVEC(DIMENSIONS), nullable=False),
        Column("used_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
        Index("embedding_cache_used_at", "used_at"),
        Index("embedding_cache_tenant", "tenant"),
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
    Index("events_waiting", "tenant", "id", postgresql_where=text("seq IS NULL")),
    Index("events_tenant_seq", "tenant", "seq"),
    Index("events_tenant_scope", "tenant", "scope"),
    *(
        Index(
            f"events_of_{name}",
            *("tenant", column, *more),
            postgresql_where=text(f"{column} IS NOT NULL AND seq IS NOT NULL"),
        )
        for name, column, more in (
            ("mission", "mission_id", ("seq",)),
            ("agent", "agent_name", ("seq",)),
            ("dispatch", "dispatch_id", ("seq",)),
            ("session", "session_id", ()),
        )
    ),
    schema="timeline",
    postgresql_partition_by="RANGE (created_at)",
)

timeline_counters = Table(
    "counters",
    metadata,
    Column("tenant", Text, primary_key=True),
    # The number of the tenant's last numbered event.
    Column("last", BigInteger, nullable=False),
    schema="timeline",
)

timeline_counter_start = Table(
    "counter_start",
    metadata,
    Column("id", Boolean, primary_key=True, server_default=text("true")),
    # Where the counter of a new tenant begins. No event that is gone had a higher number.
    Column("last", BigInteger, nullable=False, server_default=text("0")),
    schema="timeline",
)
