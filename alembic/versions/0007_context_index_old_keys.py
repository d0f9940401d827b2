"""context: the index by which a rotated key is found while both of its secrets are valid"""

from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Alone in its migration: outside of a transaction nothing else may be half done.
    with op.get_context().autocommit_block():
        # What a killed run left behind is invalid, and in the way.
        op.execute("drop index concurrently if exists context.api_keys_old_token_hash")
        op.execute(
            "create index concurrently if not exists api_keys_old_token_hash on context.api_keys (old_token_hash)"
            " where old_token_hash is not null"
        )


def downgrade() -> None:
    with op.get_context().autocommit_block():
        op.execute("drop index concurrently if exists context.api_keys_old_token_hash")
