"""memory, cache: the item that supersedes an item"""

from alembic import op

revision = "0013_superseded_by"
down_revision = "0012_index_languages"
branch_labels = None
depends_on = None

TABLES = ("cache.psychic_cache", "memory.agent_memory")


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for table in TABLES:
        op.execute(f"alter table {table} add column superseded_by bigint")


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for table in TABLES:
        op.execute(f"alter table {table} drop column superseded_by")
