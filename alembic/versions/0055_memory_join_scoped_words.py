"""memory: the words of a scope are made in one go, as the cache's are"""

from alembic import op

from shared.database.schema import function

revision = "0055_join_words_of_memories"
down_revision = "0054_maintain_patiently"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    # The same words as before, so the indexes stay as they are.
    op.execute(function("memory.scoped_words_v2"))


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute(function("memory.scoped_words_v1"))
