"""context: what the helper model wrote of an assembly"""

from alembic import op

revision = "0040_synthesis"
down_revision = "0039_consolidation"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("alter table context.context_assembly_log add column if not exists synthesis jsonb")


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("alter table context.context_assembly_log drop column if exists synthesis")
