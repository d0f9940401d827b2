"""memory: runs of consolidation, what they changed, and how far they are"""

from alembic import op

from shared.database.schema import grants, statements
from shared.database.tenancy import CLOSE_IF_NEW, isolate

revision = "0039_consolidation"
down_revision = "0038_join_words"
branch_labels = None
depends_on = None

TABLES = """
create table memory.consolidation_state (
    tenant text not null,
    session_id text not null,
    scope text not null,
    agent_name text,
    user_id text,
    position bigint default 0 not null,
    run_id bigint,
    holder text,
    leased_until timestamptz,
    constraint consolidation_state_pkey primary key (tenant, session_id)
);
create index consolidation_state_scope on memory.consolidation_state (tenant, scope);
create index consolidation_state_agent on memory.consolidation_state (tenant, agent_name) where agent_name is not null;
create index consolidation_state_user on memory.consolidation_state (tenant, user_id) where user_id is not null;

create table memory.consolidation_file_hashes (
    tenant text not null,
    path text not null,
    scope text not null,
    user_id text,
    hash bytea not null,
    run_id bigint not null,
    learned_at timestamptz default clock_timestamp() not null,
    constraint consolidation_file_hashes_pkey primary key (tenant, path)
);
create index consolidation_file_hashes_scope on memory.consolidation_file_hashes (tenant, scope);
create index consolidation_file_hashes_user on memory.consolidation_file_hashes (tenant, user_id) where user_id is not null;

create table memory.consolidation_runs (
    tenant text not null,
    id bigint generated always as identity,
    scope text not null,
    session_id text,
    path text,
    agent_name text,
    mission_id text,
    user_id text,
    after bigint not null,
    position bigint not null,
    through bigint not null,
    tally jsonb default '{}' not null,
    skipped jsonb default '{}' not null,
    written_by text not null,
    started_at timestamptz default clock_timestamp() not null,
    finished_at timestamptz,
    undone_at timestamptz,
    undone_by text,
    constraint consolidation_runs_pkey primary key (tenant, id)
);
create index consolidation_runs_scope on memory.consolidation_runs (tenant, scope, id);
create index consolidation_runs_session on memory.consolidation_runs (tenant, session_id, id);
create index consolidation_runs_agent on memory.consolidation_runs (tenant, agent_name) where agent_name is not null;
create index consolidation_runs_user on memory.consolidation_runs (tenant, user_id) where user_id is not null;

create table memory.consolidation_changes (
    tenant text not null,
    run_id bigint not null,
    number integer not null,
    kind text not null,
    action text not null,
    item_id bigint,
    turns bigint[] default '{}' not null,
    trust text,
    why text,
    undoing jsonb,
    changed_at timestamptz default clock_timestamp() not null,
    constraint consolidation_changes_pkey primary key (tenant, run_id, number),
    constraint consolidation_changes_tenant_run_id_fkey foreign key(tenant, run_id) references memory.consolidation_runs (tenant, id) on delete cascade
);
create index consolidation_changes_item on memory.consolidation_changes (tenant, kind, item_id);
"""
NAMES = ("consolidation_state", "consolidation_file_hashes", "consolidation_runs", "consolidation_changes")


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for statement in statements(TABLES):
        op.execute(statement)
    for name in NAMES:
        op.execute(isolate(f"memory.{name}"))
    op.execute(CLOSE_IF_NEW)
    for statement in grants(
        "agent_memory",
        *(f"grant select, insert, update, delete on memory.{name} to {{role}}" for name in NAMES),
    ):
        op.execute(statement)


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for name in reversed(NAMES):
        op.execute(f"drop table memory.{name}")
