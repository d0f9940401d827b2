"""cache, memory, context: cached vectors by tenant, and an index queue that tenants take turns in"""

from alembic import op

revision = "0006_separate_tenants"
down_revision = "0005_audit"
branch_labels = None
depends_on = None

# Rows of the release before this one belong to no tenant: nobody reads them, and the hourly cleanup removes them.
ADD_TENANT = "alter table {schema}.embedding_cache add column if not exists tenant text not null default ''"


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("set local statement_timeout = '60s'")
    for schema in ("cache", "memory", "context"):
        op.execute(ADD_TENANT.format(schema=schema))
    with op.get_context().autocommit_block():
        for schema in ("cache", "memory", "context"):
            _index(f"{schema}.embedding_cache_tenant", f"{schema}.embedding_cache (tenant)")
        for schema in ("cache", "memory"):
            _index(f"{schema}.index_queue_turn", f"{schema}.index_queue (model, tenant, due_at)")
            op.execute(f"drop index concurrently if exists {schema}.index_queue_due")


def _index(name: str, columns: str) -> None:
    # An interrupted run leaves an invalid index behind.
    op.execute(f"drop index concurrently if exists {name}")
    op.execute(f"create index concurrently if not exists {name.split('.')[1]} on {columns}")


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for schema in ("cache", "memory", "context"):
        op.execute(f"alter table {schema}.embedding_cache drop column if exists tenant")
    with op.get_context().autocommit_block():
        for schema in ("cache", "memory"):
            op.execute(f"drop index concurrently if exists {schema}.index_queue_turn")
            op.execute(f"drop index concurrently if exists {schema}.index_queue_due")
            op.execute(
                f"create index concurrently if not exists index_queue_due on {schema}.index_queue (model, due_at)"
            )
