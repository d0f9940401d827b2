"""cache, memory, sessions: indexes of words keep short lists of what waits, and words have no statistics

memory: the words of a long memory are written a part at a time
"""

from alembic import op

from shared.database.schema import function

revision = "0057_bound_words"
down_revision = "0056_vectors_through_views"
branch_labels = None
depends_on = None

TABLES = (
    "cache.psychic_chunks",
    "memory.agent_memory_chunks",
    "memory.file_chunks",
    "memory.long_term_chunks",
    "sessions.object_chunks",
    "sessions.persistent_chunks",
)
# Each search reads the list, and the commit that fills it sorts it into the index.
PENDING_KILOBYTES = 256


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for table in TABLES:
        op.execute(f"alter index {table}_words set (gin_pending_list_limit = {PENDING_KILOBYTES})")
        # No plan asks for them, and they are most of what ANALYZE takes.
        op.execute(f"alter table {table} alter column tsv set statistics 0")
    op.execute(function("memory.put_chunks_v4"))


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute(function("memory.put_chunks_v3"))
    for table in TABLES:
        op.execute(f"alter index {table}_words reset (gin_pending_list_limit)")
        op.execute(f"alter table {table} alter column tsv set statistics -1")
