"""cache: several entries of a mission are written by a statement for each table"""

from alembic import op

from shared.database.schema import function

revision = "0059_put_entries_together"
down_revision = "0058_accesses_apart"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(function("cache.put_entries_v5"))


def downgrade() -> None:
    op.execute(function("cache.put_entries_v4"))
