"""cache, memory, sessions: views of the vectors, whose predicate is one comparison per search and not one per row"""

from alembic import op

from shared.database.schema import grants

revision = "0056_vectors_through_views"
down_revision = "0055_join_words_of_memories"
branch_labels = None
depends_on = None

# Each view, its table, and the service that reads it.
VIEWS = (
    ("cache.searchable_vectors", "cache.psychic_vec", "cache"),
    ("sessions.searchable_object_vectors", "sessions.object_vec", "cache"),
    ("sessions.searchable_persistent_vectors", "sessions.persistent_vec", "cache"),
    ("memory.searchable_vectors", "memory.agent_memory_vec", "agent_memory"),
    ("memory.searchable_file_vectors", "memory.file_vec", "agent_memory"),
    ("memory.searchable_long_term_vectors", "memory.long_term_vec", "agent_memory"),
)


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for view, table, service in VIEWS:
        op.execute(
            f"create view {view} as select * from {table}"
            " where tenant = current_setting('scrubjay.tenant', true)"
        )
        for statement in grants(service, f"grant select on {view} to {{role}}"):
            op.execute(statement)


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for view, _, _ in VIEWS:
        op.execute(f"drop view {view}")
