"""sessions: what is kept of sessions' objects for their users"""

from alembic import op

from shared.database.schema import grants, statements
from shared.database.tenancy import CLOSE_IF_NEW, isolate

revision = "0035_persistent"
down_revision = "0034_search_objects"
branch_labels = None
depends_on = None

TABLES = """
create table sessions.persistent_objects (
    tenant text not null,
    id uuid default gen_random_uuid() not null,
    number bigint generated always as identity,
    user_id text not null,
    scope text generated always as ('user:' || user_id) stored not null,
    source_object_id uuid,
    source_session_id uuid,
    object_type text not null,
    content text not null,
    content_hash bytea not null,
    agent_name text,
    source_kind text not null,
    written_by text not null,
    token_count integer not null,
    confidence real default 1.0 not null,
    last_reinforced timestamptz default clock_timestamp() not null,
    reinforcements integer default 0 not null,
    created_at timestamptz default clock_timestamp() not null,
    constraint persistent_objects_pkey primary key (tenant, id),
    constraint persistent_objects_tenant_number_key unique (tenant, number),
    constraint persistent_objects_tenant_user_id_content_hash_key unique (tenant, user_id, content_hash),
    constraint persistent_objects_confidence check (confidence between 0 and 1)
);
create index persistent_objects_user on sessions.persistent_objects (tenant, user_id, number);
create index persistent_objects_agent on sessions.persistent_objects (tenant, agent_name) where agent_name is not null;
create index persistent_objects_session on sessions.persistent_objects (tenant, source_session_id) where source_session_id is not null;
"""


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for statement in statements(TABLES):
        op.execute(statement)
    op.execute(isolate("sessions.persistent_objects"))
    op.execute(CLOSE_IF_NEW)
    rights = "grant select, insert, update, delete on sessions.persistent_objects to {role}"
    for statement in grants("cache", rights):
        op.execute(statement)


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("drop table sessions.persistent_objects")
