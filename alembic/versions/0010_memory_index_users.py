"""memory: the index by which what is about a user is found"""

from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Alone in its migration: outside of a transaction nothing else may be half done.
    with op.get_context().autocommit_block():
        # What a killed run left behind is invalid, and in the way.
        op.execute("drop index concurrently if exists memory.agent_memory_user")
        op.execute(
            "create index concurrently if not exists agent_memory_user on memory.agent_memory (tenant, user_id)"
            " where user_id is not null"
        )


def downgrade() -> None:
    with op.get_context().autocommit_block():
        op.execute("drop index concurrently if exists memory.agent_memory_user")
