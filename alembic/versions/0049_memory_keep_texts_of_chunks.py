"""memory: the chunks of a long item keep their own texts, so that a search does not read the whole item for each"""

from alembic import op

from shared.database.schema import function, grants

revision = "0049_texts_of_chunks"
down_revision = "0048_stale_sessions"
branch_labels = None
depends_on = None

VIEWS = {
    "memory.agent_memory_chunks": "memory.searchable_chunks",
    "memory.long_term_chunks": "memory.searchable_long_term",
}
VIEW = "create or replace view {} as select * from {} where tenant = current_setting('scrubjay.tenant', true)"


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for table, view in VIEWS.items():
        op.execute(f"alter table {table} add column if not exists body text")
        op.execute(VIEW.format(view, table))
    op.execute(function("memory.put_chunks_v2"))


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute(function("memory.put_chunks_v1"))
    for table, view in VIEWS.items():
        op.execute(f"drop view {view}")
        # squawk-ignore ban-drop-column
        op.execute(f"alter table {table} drop column body")
        op.execute(VIEW.format(view, table))
        for statement in grants("agent_memory", f"grant select on {view} to {{role}}"):
            op.execute(statement)
