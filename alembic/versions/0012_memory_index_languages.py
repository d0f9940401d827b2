"""memory, cache: chunks of other languages hold their stems"""

from alembic import op

from shared.database.schema import function

revision = "0012_index_languages"
down_revision = "0011_index_terms"
branch_labels = None
depends_on = None

SCHEMAS = ("cache", "memory")


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("alter table memory.agent_memory add column language text")
    for schema in SCHEMAS:
        op.execute(function(f"{schema}.stems_v1"))
        op.execute(function(f"{schema}.chunk_words_v3"))


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for schema in SCHEMAS:
        op.execute(function(f"{schema}.chunk_words_v2"))
        op.execute(f"drop function {schema}.stems(text, text)")
    op.execute("alter table memory.agent_memory drop column language")
