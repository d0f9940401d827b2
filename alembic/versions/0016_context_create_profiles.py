"""context: what blocks say first of an agent or a user"""

from alembic import op

from shared.database.schema import grants, statements
from shared.database.tenancy import CLOSE_IF_NEW, isolate

revision = "0016_profiles"
down_revision = "0015_read_texts_once"
branch_labels = None
depends_on = None

TABLES = """
create table context.profiles (
    tenant text not null,
    scope text not null,
    text text not null,
    background boolean default false not null,
    written_by text not null,
    source_kind text not null,
    source_claim text,
    updated_at timestamptz default clock_timestamp() not null,
    constraint profiles_pkey primary key (tenant, scope),
    constraint profiles_scope_check check (scope like 'agent:%' or scope like 'user:%')
);
"""


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for statement in statements(TABLES):
        op.execute(statement)
    for statement in grants("context", "grant select, insert, update, delete on context.profiles to {role}"):
        op.execute(statement)
    op.execute(isolate("context.profiles"))
    op.execute(CLOSE_IF_NEW)


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("drop table context.profiles")
