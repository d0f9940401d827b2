"""memory: where the file of a fact states it"""

from alembic import op

revision = "0031_lines_of_facts"
down_revision = "0030_origin"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute(
        "alter table memory.facts add column if not exists line integer, add column if not exists piece smallint"
    )


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("alter table memory.facts drop column if exists line, drop column if exists piece")
