"""memory: what was written last in a tenant, for copies of all that its agents share"""

from alembic import op

revision = "0027_recent_chunks"
down_revision = "0026_long_term"
branch_labels = None
depends_on = None

INDEX = "agent_memory_chunks_recent on memory.agent_memory_chunks (tenant, changed)"


def upgrade() -> None:
    with op.get_context().autocommit_block():
        op.execute("set lock_timeout = '2s'")
        # An interrupted run leaves an invalid index behind.
        op.execute("drop index concurrently if exists memory.agent_memory_chunks_recent")
        op.execute(f"create index concurrently if not exists {INDEX}")


def downgrade() -> None:
    with op.get_context().autocommit_block():
        op.execute("drop index concurrently if exists memory.agent_memory_chunks_recent")
