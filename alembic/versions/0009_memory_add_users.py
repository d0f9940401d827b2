"""memory: what is remembered may name the user whom it is about"""

from alembic import op

revision = "0009"
down_revision = "0008"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("set local statement_timeout = '60s'")
    op.execute("alter table memory.agent_memory add column user_id text")


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("alter table memory.agent_memory drop column user_id")
