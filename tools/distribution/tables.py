"""Which tables an engine that shards by tenant would distribute, and the keys that it asks for.

The descriptions of the tables are compared with the migrations by `alembic check`.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import ForeignKeyConstraint, MetaData, PrimaryKeyConstraint, Table, UniqueConstraint

from services.agent_memory import tables as _memory  # noqa: F401
from services.cache import tables as _cache  # noqa: F401
from services.context import tables as _context  # noqa: F401
from shared.database.distribution import TENANT, distributed
from shared.database.schema import metadata

# Views, and the tables that they show a tenant's rows of.
VIEWS = {
    "cache.searchable_chunks": "cache.psychic_chunks",
    "memory.searchable_chunks": "memory.agent_memory_chunks",
    "memory.searchable_file_chunks": "memory.file_chunks",
    "memory.searchable_long_term": "memory.long_term_chunks",
    "cache.searchable_words": "cache.psychic_chunks",
    "memory.searchable_words": "memory.agent_memory_chunks",
    "memory.searchable_file_words": "memory.file_chunks",
    "memory.searchable_long_term_words": "memory.long_term_chunks",
    "sessions.searchable_objects": "sessions.object_chunks",
    "sessions.searchable_persistent": "sessions.persistent_chunks",
    "cache.searchable_vectors": "cache.psychic_vec",
    "sessions.searchable_object_vectors": "sessions.object_vec",
    "sessions.searchable_persistent_vectors": "sessions.persistent_vec",
    "memory.searchable_vectors": "memory.agent_memory_vec",
    "memory.searchable_file_vectors": "memory.file_vec",
    "memory.searchable_long_term_vectors": "memory.long_term_vec",
}


def columns() -> dict[str, set[str]]:
    """The columns of each table that is distributed, and of the views over them."""
    tables = {name: set(table.columns.keys()) for name, table in distributed(metadata)}
    return tables | {view: tables[table] for view, table in VIEWS.items()}


def keys_without_tenant(described: MetaData = metadata) -> Iterator[tuple[str, str]]:
    """The name of each key or unique index of a distributed table that leaves out the tenant, and what is wrong."""
    tables = dict(distributed(described))
    for table in tables.values():
        for index in table.indexes:
            if index.unique and TENANT not in index.columns:
                yield f"{table.schema}.{index.name}", "a unique index without the tenant"
        for constraint in table.constraints:
            named = f"{table.schema}.{constraint.name or table.name + '_pkey'}"
            if isinstance(constraint, PrimaryKeyConstraint | UniqueConstraint):
                if TENANT not in constraint.columns:
                    yield named, "a key without the tenant"
            elif isinstance(constraint, ForeignKeyConstraint):
                yield from ((named, wrong) for wrong in _broken_reference(constraint, tables))


def _broken_reference(constraint: ForeignKeyConstraint, tables: dict[str, Table]) -> Iterator[str]:
    pairs = {
        (element.parent.name, element.target_fullname.rsplit(".", 1)[1]) for element in constraint.elements
    }
    referred = constraint.elements[0].target_fullname.rsplit(".", 1)[0]
    if (TENANT, TENANT) not in pairs:
        yield "a foreign key without the tenant"
    if referred not in tables:
        yield f"a foreign key to {referred}, which is not distributed"
