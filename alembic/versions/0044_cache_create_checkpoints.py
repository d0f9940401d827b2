"""cache: the states of graphs that frameworks save"""

from alembic import op

from shared.database.schema import grants, statements
from shared.database.tenancy import CLOSE_IF_NEW, isolate

revision = "0044_checkpoints"
down_revision = "0043_add_up_so_far"
branch_labels = None
depends_on = None

TABLES = """
create table cache.checkpoint_threads (
    tenant text not null,
    id bigint generated always as identity,
    thread_id text not null,
    name_hash bytea not null,
    scope text not null,
    agent_name text,
    mission_id text,
    user_id text,
    written_by text not null,
    created_at timestamptz default clock_timestamp() not null,
    expires_at timestamptz not null,
    constraint checkpoint_threads_pkey primary key (tenant, id),
    constraint checkpoint_threads_tenant_name_hash_key unique (tenant, name_hash)
);
create index checkpoint_threads_scope on cache.checkpoint_threads (tenant, scope, id);
create index checkpoint_threads_agent on cache.checkpoint_threads (tenant, agent_name) where agent_name is not null;
create index checkpoint_threads_user on cache.checkpoint_threads (tenant, user_id) where user_id is not null;
create index checkpoint_threads_expiry on cache.checkpoint_threads (expires_at);

create table cache.checkpoints (
    tenant text not null,
    thread bigint not null,
    checkpoint_id text collate "C" not null,
    namespace text collate "C" not null,
    parent_id text,
    run_id text,
    metadata jsonb not null,
    state text not null,
    created_at timestamptz default clock_timestamp() not null,
    constraint checkpoints_pkey primary key (tenant, thread, checkpoint_id, namespace),
    constraint checkpoints_tenant_thread_fkey foreign key (tenant, thread) references cache.checkpoint_threads (tenant, id) on delete cascade
);
create index checkpoints_run on cache.checkpoints (tenant, run_id) where run_id is not null;

create table cache.checkpoint_writes (
    tenant text not null,
    thread bigint not null,
    checkpoint_id text collate "C" not null,
    namespace text collate "C" not null,
    task_id text collate "C" not null,
    place integer not null,
    task_path text collate "C" not null,
    channel text not null,
    value text not null,
    constraint checkpoint_writes_pkey primary key (tenant, thread, checkpoint_id, namespace, task_id, place),
    constraint checkpoint_writes_tenant_thread_fkey foreign key (tenant, thread) references cache.checkpoint_threads (tenant, id) on delete cascade
);
"""
NAMES = ("checkpoint_threads", "checkpoints", "checkpoint_writes")


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for statement in statements(TABLES):
        op.execute(statement)
    for name in NAMES:
        op.execute(isolate(f"cache.{name}"))
    op.execute(CLOSE_IF_NEW)
    rights = [f"grant select, insert, update, delete on cache.{name} to {{role}}" for name in NAMES]
    for statement in grants("cache", *rights):
        op.execute(statement)


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for name in reversed(NAMES):
        op.execute(f"drop table cache.{name}")
