"""memory, cache: what a writer claims about its source; entries evict by agent and tick only their key's dispatches"""

from alembic import op

from shared.database.schema import function

revision = "0009_source_claim"
down_revision = "0008_secret_policies"
branch_labels = None
depends_on = None

TABLES = ("cache.psychic_cache", "memory.agent_memory")


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for table in TABLES:
        op.execute(f"alter table {table} add column source_claim text")
    op.execute(function("cache.put_entries_v2"))


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute(function("cache.put_entries_v1"))
    for table in TABLES:
        op.execute(f"alter table {table} drop column source_claim")
