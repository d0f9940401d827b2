"""cache: find a mission's sessions, an agent's dispatches and a session's checkpoints without reading the tenant's"""

from alembic import op

revision = "0053_list_by_name"
down_revision = "0052_events_by_name"
branch_labels = None
depends_on = None

INDEXES = {
    "sessions.sessions_mission": "sessions.sessions (tenant, mission_id) where mission_id is not null",
    "cache.agent_dispatch_agent": "cache.agent_dispatch (tenant, agent_name, id)",
    "cache.psychic_cache_session_checkpoint": "cache.psychic_cache (tenant, session_id, id)"
    " where context_type = 'thread_checkpoint'",
}


def upgrade() -> None:
    with op.get_context().autocommit_block():
        for index, columns in INDEXES.items():
            # An interrupted run leaves an invalid index behind.
            op.execute(f"drop index concurrently if exists {index}")
            op.execute(f"create index concurrently if not exists {index.split('.')[1]} on {columns}")


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for index in INDEXES:
        op.execute(f"drop index {index}")
