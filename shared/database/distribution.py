"""Distributes the tenants' tables over the nodes of a Citus cluster, once the migrations have run.

A node then holds everything of a tenant, so that keys, joins and transactions of one tenant stay on it.
"""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Connection, MetaData, Table

from shared.database.postgres import HAS_CITUS

TENANT = "tenant"
ENGINE = "citus"
# Small tables that stay on the coordinator.
LOCAL = {
    "context.api_keys": "a request's key is found by its hash before the tenant is known",
    "context.api_key_usage": "it stands beside the keys",
    "context.languages": "a tenant's language is read with a request's key",
    "context.tenant_purges": "a row for each purge of a tenant that is under way",
    "timeline.audit": "a row for each change by an admin; the purge of a tenant takes the tenant out of its rows",
    "timeline.counter_start": "one row, where the numbers of a new tenant begin",
    "timeline.erased": "digests that name no tenant",
    "public.alembic_version": "one row, the revision of the schema",
}
# The coordinator plans what a function runs with the tenant that it was called with, not for any.
RESET_PLANS = """
do $reset$ declare found record; begin
    for found in select oid::regprocedure::text as name from pg_proc
        where pronamespace::regnamespace::text in ('cache', 'sessions', 'memory', 'context', 'timeline')
          and array_to_string(proconfig, ' ') like '%plan_cache_mode%'
    loop
        execute format('alter function %s reset plan_cache_mode', found.name);
    end loop;
end $reset$"""
# The policies and the views compare with settings of the transaction.
HANDED_ON = "select coalesce(current_setting('citus.propagate_set_commands', true), '') = 'local'"
_KEY = """alter table {table} drop constraint {key}, add constraint {key} primary key ({columns});
        """
# It may run again.
_DISTRIBUTE = """
do $distribute$ begin
    if not exists (select from pg_dist_partition where logicalrelid = '{table}'::regclass) then
        {key}perform create_distributed_table('{table}', 'tenant', colocate_with => '{beside}');
    end if;
end $distribute$"""


def distributed(described: MetaData) -> Iterator[tuple[str, Table]]:
    """The tenants' tables by name. A table comes after those that its foreign keys refer to."""
    for table in described.sorted_tables:
        name = f"{table.schema}.{table.name}"
        if TENANT in table.columns and name not in LOCAL:
            yield name, table


def statements(described: MetaData) -> Iterator[str]:
    """One for each table. All stand beside the first one, by tenant."""
    beside = "none"
    for name, table in distributed(described):
        yield _DISTRIBUTE.format(table=name, key=_key_with_tenant(name, table), beside=beside)
        beside = name if beside == "none" else beside


def _key_with_tenant(name: str, table: Table) -> str:
    """Replaces a primary key without the tenant by one of the same name."""
    columns = [column.name for column in table.primary_key.columns]
    if not columns or TENANT in columns:
        return ""
    key, wanted = table.primary_key.name or f"{table.name}_pkey", ", ".join([TENANT, *columns])
    return _KEY.format(table=name, key=key, columns=wanted)


def distribute(connection: Connection, described: MetaData) -> None:
    """One transaction for each table, so that an interrupted run goes on where it ended. Raises SystemExit."""
    _refuse_without_engine(connection)
    for statement in [*statements(described), RESET_PLANS]:
        connection.exec_driver_sql(statement)
        connection.commit()


def _refuse_without_engine(connection: Connection) -> None:
    if not connection.exec_driver_sql(HAS_CITUS).scalar_one():
        raise SystemExit(
            "SCRUBJAY_DISTRIBUTED is citus, but the database has no extension citus."
            " deploy/postgres/citus.sql prepares a database."
        )
    if not connection.exec_driver_sql(HANDED_ON).scalar_one():
        raise SystemExit(
            "The setting citus.propagate_set_commands must be 'local', or row-level security hides every row."
            " deploy/postgres/citus.sql prepares a database."
        )


def wanted(setting: str | None) -> bool:
    """Whether SCRUBJAY_DISTRIBUTED asks for it. Raises SystemExit."""
    if setting not in (None, "", ENGINE):
        raise SystemExit(f"SCRUBJAY_DISTRIBUTED is citus or empty: {setting!r}")
    return setting == ENGINE
