"""memory: the HNSW index looks at more vectors before it links one"""

from alembic import op

revision = "0062_link_more_carefully"
down_revision = "0061_analyze_grown"
branch_labels = None
depends_on = None

ON = "on memory.agent_memory_vec using hnsw (embedding halfvec_cosine_ops)"


def upgrade() -> None:
    _replace(
        "agent_memory_vec_large", "agent_memory_vec_nearest", f"{ON} with (ef_construction = 128) where large"
    )


def downgrade() -> None:
    _replace("agent_memory_vec_nearest", "agent_memory_vec_large", f"{ON} where large")


def _replace(former: str, name: str, definition: str) -> None:
    """Searches use the former index until the other is complete."""
    with op.get_context().autocommit_block():
        # An interrupted run leaves an invalid index behind.
        op.execute(f"drop index concurrently if exists memory.{name}")
        op.execute(f"create index concurrently if not exists {name} {definition}")
        op.execute(f"drop index concurrently if exists memory.{former}")
