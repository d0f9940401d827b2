"""memory: a commit of one memory takes small statements, and words are made by the statement that writes them"""

from alembic import op

from shared.database.schema import function

revision = "0060_commit_with_less"
down_revision = "0059_put_entries_together"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.execute(function("memory.chunk_words_v6"))
    op.execute(function("memory.put_chunks_v5"))
    op.execute(function("memory.put_memories_v3"))
    op.execute(function("memory.commit_new_facts_v2"))


def downgrade() -> None:
    op.execute(function("memory.commit_new_facts_v1"))
    op.execute(function("memory.put_memories_v2"))
    op.execute(function("memory.put_chunks_v4"))
    op.execute(function("memory.chunk_words_v5"))
