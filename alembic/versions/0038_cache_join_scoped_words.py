"""cache: the words of a scope are made in one go"""

from alembic import op

from shared.database.schema import function

revision = "0038_join_words"
down_revision = "0037_price_costs"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    # The same words as before, so the indexes stay as they are.
    op.execute(function("cache.scoped_words_v2"))


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute(function("cache.scoped_words_v1"))
