"""Which tables an engine that shards by tenant would distribute, and the keys that it asks for.

The descriptions of the tables are compared with the migrations by `alembic check`.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import ForeignKeyConstraint, MetaData, PrimaryKeyConstraint, Table, UniqueConstraint

from services.agent_memory import tables as _memory  # noqa: F401
from services.cache import tables as _cache  # noqa: F401
from services.context import tables as _context  # noqa: F401
from shared.database.schema import metadata

TENANT = "tenant"
# Small tables that stay on the coordinator.
LOCAL = {
    "context.api_keys": "a request's key is found by its hash before the tenant is known",
    "context.api_key_usage": "it stands beside the keys",
    "context.languages": "a tenant's language is read with a request's key",
    "context.tenant_purges": "a row for each purge of a tenant that is under way",
    "timeline.audit": "a row for each change by an admin; the purge of a tenant takes the tenant out of its rows",
    "timeline.erased": "digests that name no tenant",
    "timeline.counter_start": "one row, where the numbers of a new tenant begin",
    "public.alembic_version": "one row, the revision of the schema",
}
# Views, and the tables that they show a tenant's rows of.
VIEWS = {
    "cache.searchable_chunks": "cache.psychic_chunks",
    "memory.searchable_chunks": "memory.agent_memory_chunks",
}


def columns() -> dict[str, set[str]]:
    """The columns of each table that is distributed, and of the views over them."""
    tables = {name: set(table.columns.keys()) for name, table in _distributed(metadata)}
    return tables | {view: tables[table] for view, table in VIEWS.items()}


def _distributed(described: MetaData) -> Iterator[tuple[str, Table]]:
    for table in described.sorted_tables:
        name = f"{table.schema}.{table.name}"
        if TENANT in table.columns and name not in LOCAL:
            yield name, table


def keys_without_tenant(described: MetaData = metadata) -> Iterator[tuple[str, str]]:
    """The name of each key or unique index of a distributed table that leaves out the tenant, and what is wrong."""
    distributed = dict(_distributed(described))
    for table in distributed.values():
        for index in table.indexes:
            if index.unique and TENANT not in index.columns:
                yield f"{table.schema}.{index.name}", "a unique index without the tenant"
        for constraint in table.constraints:
            named = f"{table.schema}.{constraint.name or table.name + '_pkey'}"
            if isinstance(constraint, PrimaryKeyConstraint | UniqueConstraint):
                if TENANT not in constraint.columns:
                    yield named, "a key without the tenant"
            elif isinstance(constraint, ForeignKeyConstraint):
                yield from ((named, wrong) for wrong in _broken_reference(constraint, distributed))


def _broken_reference(constraint: ForeignKeyConstraint, distributed: dict[str, Table]) -> Iterator[str]:
    pairs = {
        (element.parent.name, element.target_fullname.rsplit(".", 1)[1]) for element in constraint.elements
    }
    referred = constraint.elements[0].target_fullname.rsplit(".", 1)[0]
    if (TENANT, TENANT) not in pairs:
        yield "a foreign key without the tenant"
    if referred not in distributed:
        yield f"a foreign key to {referred}, which is not distributed"
