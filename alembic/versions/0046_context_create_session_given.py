"""context: what each session was given"""

from alembic import op

from shared.database.schema import grants, statements
from shared.database.tenancy import CLOSE_IF_NEW, isolate

revision = "0046_session_given"
down_revision = "0045_gateway_sessions"
branch_labels = None
depends_on = None

TABLES = """
create table context.session_given (
    tenant text not null,
    key text not null,
    caller text not null,
    session_id text not null,
    handle text not null,
    after bigint not null,
    position bigint generated always as identity not null,
    state text not null,
    scopes text[] not null,
    given_at timestamptz default clock_timestamp() not null,
    constraint session_given_pkey primary key (tenant, key, caller, session_id, handle, after)
);
create index session_given_given_at on context.session_given (given_at);
alter table context.session_given set (autovacuum_vacuum_scale_factor = 0.02);
"""


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for statement in statements(TABLES):
        op.execute(statement)
    op.execute(isolate("context.session_given"))
    op.execute(CLOSE_IF_NEW)
    for statement in grants(
        "context", "grant select, insert, update, delete on context.session_given to {role}"
    ):
        op.execute(statement)


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("drop table context.session_given")
