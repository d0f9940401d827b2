"""memory: where a long-term memory was imported from"""

from alembic import op

revision = "0030_origin"
down_revision = "0029_facts"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("alter table memory.long_term add column if not exists origin text")


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("alter table memory.long_term drop column if exists origin")
