"""memory, cache: the text parser reads each text once"""

from alembic import op

from shared.database.schema import function

revision = "0015_read_texts_once"
down_revision = "0014_confirmed_at"
branch_labels = None
depends_on = None

SCHEMAS = ("cache", "memory")


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for schema in SCHEMAS:
        op.execute(function(f"{schema}.chunk_words_v4"))


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for schema in SCHEMAS:
        op.execute(function(f"{schema}.chunk_words_v3"))
