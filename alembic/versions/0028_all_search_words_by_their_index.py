"""cache, memory: a view of the chunks whose predicate no other index than that of their words serves"""

from alembic import op

from shared.database.schema import grants

revision = "0028_words_by_index"
down_revision = "0027_recent_chunks"
branch_labels = None
depends_on = None

# Each view, its table, and the service that reads it.
VIEWS = (
    ("cache.searchable_words", "cache.psychic_chunks", "cache"),
    ("memory.searchable_words", "memory.agent_memory_chunks", "agent_memory"),
    ("memory.searchable_file_words", "memory.file_chunks", "agent_memory"),
    ("memory.searchable_long_term_words", "memory.long_term_chunks", "agent_memory"),
)


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for view, table, service in VIEWS:
        # A B-tree serves `=`, but not `is not distinct from`.
        op.execute(
            f"create view {view} as select * from {table}"
            " where tenant is not distinct from (select current_setting('scrubjay.tenant', true))"
        )
        for statement in grants(service, f"grant select on {view} to {{role}}"):
            op.execute(statement)


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for view, _, _ in VIEWS:
        op.execute(f"drop view {view}")
