"""cache, memory: each chunk names the transaction that wrote it, so that a copy of a scope reads only what is new"""

from alembic import op

from shared.database.schema import grants

revision = "0021_stamp_chunks"
down_revision = "0020_number_by_tenant"
branch_labels = None
depends_on = None

CHUNKS = {"cache": "psychic_chunks", "memory": "agent_memory_chunks"}
SERVICES = {"cache": "cache", "memory": "agent_memory"}
STAMP = "pg_current_xact_id()::text::bigint"


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("set local statement_timeout = '60s'")
    for schema, chunks in CHUNKS.items():
        op.execute(f"alter table {schema}.{chunks} add column if not exists changed bigint")
        op.execute(f"alter table {schema}.{chunks} alter column changed set default {STAMP}")
        op.execute(f"create or replace view {_view(schema)}")
    with op.get_context().autocommit_block():
        for schema, chunks in CHUNKS.items():
            _index(f"{schema}.{chunks}_changed", f"{schema}.{chunks} (tenant, scope, changed)")
            op.execute(f"drop index concurrently if exists {schema}.{chunks}_scope")


def _view(schema: str) -> str:
    return (
        f"{schema}.searchable_chunks as select * from {schema}.{CHUNKS[schema]}"
        " where tenant = current_setting('scrubjay.tenant', true)"
    )


def _index(name: str, columns: str) -> None:
    # An interrupted run leaves an invalid index behind.
    op.execute(f"drop index concurrently if exists {name}")
    op.execute(f"create index concurrently if not exists {name.split('.')[1]} on {columns}")


def downgrade() -> None:
    with op.get_context().autocommit_block():
        for schema, chunks in CHUNKS.items():
            _index(f"{schema}.{chunks}_scope", f"{schema}.{chunks} (tenant, scope)")
            op.execute(f"drop index concurrently if exists {schema}.{chunks}_changed")
    op.execute("set local lock_timeout = '2s'")
    for schema, chunks in CHUNKS.items():
        op.execute(f"drop view if exists {schema}.searchable_chunks")
        op.execute(f"alter table {schema}.{chunks} drop column if exists changed")
        op.execute(f"create view {_view(schema)}")
        for statement in grants(SERVICES[schema], f"grant select on {schema}.searchable_chunks to {{role}}"):
            op.execute(statement)
