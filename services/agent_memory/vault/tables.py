"""The tables of the vault: the indexed parts of its files, with their chunks and vectors."""

from __future__ import annotations

from sqlalchemy import (
    BigInteger,
    Column,
    Identity,
    Index,
    Integer,
    LargeBinary,
    PrimaryKeyConstraint,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB

from shared.database import schema
from shared.database.schema import Instant, metadata

# A row is a part of one version of a file. What changed gets new rows, so a handle never shows another text.
files = Table(
    "files",
    metadata,
    Column("tenant", Text, nullable=False),
    Column("id", BigInteger, Identity(always=True), nullable=False),
    Column("path", Text, nullable=False),
    # From 0.
    Column("part", Integer, nullable=False),
    # The piece of an upload that the part came with, of so many.
    Column("piece", SmallInteger, nullable=False),
    Column("pieces", SmallInteger, nullable=False),
    # `upload`, or `folder` for what lies below VAULT_ROOT.
    Column("origin", Text, nullable=False),
    # The SHA-256 of the piece or of the file.
    Column("hash", LargeBinary, nullable=False),
    # Of its folder: agent:…, mission:…, user:…, shared, or vault for all others.
    Column("scope", Text, nullable=False),
    Column("user_id", Text),
    Column("format", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("characters", Integer, nullable=False),
    # From 1, inclusive.
    Column("first_line", Integer, nullable=False),
    Column("last_line", Integer, nullable=False),
    # On which the next part begins: this one may end within a line.
    Column("next_line", Integer, nullable=False),
    Column("chunks", Integer, nullable=False),
    # The agent whose key wrote it.
    Column("agent_name", Text),
    Column("written_by", Text, nullable=False),
    Column("source_kind", Text, nullable=False),
    # When the file changed, as its file system says.
    Column("occurred_at", Instant),
    Column("created_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    PrimaryKeyConstraint("tenant", "id"),
    UniqueConstraint("tenant", "path", "part"),
    Index("files_scope", "tenant", "scope"),
    Index("files_user", "tenant", "user_id", postgresql_where=text("user_id IS NOT NULL")),
    Index("files_folder", "tenant", "path", postgresql_where=text("part = 0 AND origin = 'folder'")),
    schema="memory",
)
# The chunks of a file's parts, in their order, are its whole text.
file_chunks = schema.chunk_table(
    "memory",
    "files",
    "file_chunks",
    Column("body", Text, nullable=False),
    Column("first_line", Integer, nullable=False),
    Column("last_line", Integer, nullable=False),
    words="memory.scoped_words(tenant, scope, false, tsv)",
)
file_vec = schema.vector_table("memory", "files", "file_vec")
# What the last run over a tenant's folder did, or the present one has done so far. Whoever runs keeps `seen_at` young.
vault_runs = Table(
    "vault_runs",
    metadata,
    Column("tenant", Text, primary_key=True),
    Column("run", Text, nullable=False),
    Column("started_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    Column("seen_at", Instant, nullable=False, server_default=text("clock_timestamp()")),
    Column("finished_at", Instant),
    Column("files", Integer, nullable=False, server_default=text("0")),
    Column("unchanged", Integer, nullable=False, server_default=text("0")),
    Column("changed", Integer, nullable=False, server_default=text("0")),
    Column("removed", Integer, nullable=False, server_default=text("0")),
    # Paths and reasons, as many as an answer shows.
    Column("refused", JSONB, nullable=False, server_default=text("'[]'")),
    Column("refusals", Integer, nullable=False, server_default=text("0")),
    schema="memory",
)
