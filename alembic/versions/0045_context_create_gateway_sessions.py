"""context: what the gateway's sessions hold otherwise than their hosts send them"""

from alembic import op

from shared.database.schema import grants, statements
from shared.database.tenancy import CLOSE_IF_NEW, isolate

revision = "0045_gateway_sessions"
down_revision = "0044_checkpoints"
branch_labels = None
depends_on = None

TABLES = """
create table context.gateway_sessions (
    tenant text not null,
    caller text not null,
    session_id text not null,
    scopes text[] not null,
    version integer not null,
    state bytea not null,
    updated_at timestamptz default clock_timestamp() not null,
    constraint gateway_sessions_pkey primary key (tenant, caller, session_id)
);
create index gateway_sessions_updated_at on context.gateway_sessions (updated_at);
alter table context.gateway_sessions set (autovacuum_vacuum_scale_factor = 0.02);
"""


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for statement in statements(TABLES):
        op.execute(statement)
    op.execute(isolate("context.gateway_sessions"))
    op.execute(CLOSE_IF_NEW)
    for statement in grants(
        "context", "grant select, insert, update, delete on context.gateway_sessions to {role}"
    ):
        op.execute(statement)


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("drop table context.gateway_sessions")
