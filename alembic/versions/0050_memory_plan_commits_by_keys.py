"""memory: what a commit reads is found by keys, also where its plan was made while there were few memories"""

from alembic import op

from shared.database.schema import function

revision = "0050_commits_by_keys"
down_revision = "0049_texts_of_chunks"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(function("memory.put_chunks_v3"))
    op.execute(function("memory.find_repeats_v2"))


def downgrade() -> None:
    op.execute(function("memory.find_repeats_v1"))
    op.execute(function("memory.put_chunks_v2"))
