"""memory, cache: chunks bring a text search configuration and exact terms, and hold words of several earlier turns"""

from alembic import op

from shared.database.schema import function

revision = "0011_index_terms"
down_revision = "0010_isolate_tenants"
branch_labels = None
depends_on = None

# The functions of the same names with fewer arguments stay: the code before this release calls them.
CHUNK_WORDS = "chunk_words(text[], int[], int[], text[], text[], text[], text, text[])"


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute(function("cache.chunk_words_v2"))
    op.execute(function("memory.chunk_words_v2"))
    op.execute(function("cache.put_entries_v3"))


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute(function("cache.put_entries_v2"))
    op.execute("alter function cache.put_entries security definer")
    for schema in ("cache", "memory"):
        op.execute(f"drop function {schema}.{CHUNK_WORDS}")
