"""memory: when a memory was last stated again"""

from alembic import op

revision = "0014_confirmed_at"
down_revision = "0013_superseded_by"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("alter table memory.agent_memory add column confirmed_at timestamptz")


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("alter table memory.agent_memory drop column confirmed_at")
