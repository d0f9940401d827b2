"""sessions: agents' sessions, their trail, and the objects of their context"""

from alembic import op

from shared.database.schema import function, grants, statements
from shared.database.tenancy import CLOSE_IF_NEW, isolate

revision = "0033_sessions"
down_revision = "0032_store_once"
branch_labels = None
depends_on = None

TABLES = """
create schema sessions;

create table sessions.sessions (
    tenant text not null,
    id uuid default gen_random_uuid() not null,
    external_id text not null,
    scope text not null,
    agent_name text,
    mission_id text,
    user_id text,
    model text default '' not null,
    status text default 'active' not null,
    config jsonb default '{}' not null,
    goal text,
    marks text not null,
    written_by text not null,
    total_turns integer default 0 not null,
    total_objects integer default 0 not null,
    total_faults integer default 0 not null,
    total_micro_faults integer default 0 not null,
    last_seq bigint default 0 not null,
    last_place bigint default 0 not null,
    created_at timestamptz default clock_timestamp() not null,
    last_active_at timestamptz default clock_timestamp() not null,
    closed_at timestamptz,
    constraint sessions_pkey primary key (tenant, id),
    constraint sessions_tenant_external_id_key unique (tenant, external_id)
);
create index sessions_created on sessions.sessions (tenant, created_at, id);
create index sessions_scope on sessions.sessions (tenant, scope);
create index sessions_agent on sessions.sessions (tenant, agent_name) where agent_name is not null;
create index sessions_user on sessions.sessions (tenant, user_id) where user_id is not null;
create index sessions_active on sessions.sessions (tenant, last_active_at) where status = 'active';

create table sessions.trail (
    tenant text not null,
    session_id uuid not null,
    seq bigint not null,
    kind text not null,
    role text not null,
    content jsonb not null,
    token_count integer not null,
    turn integer not null,
    written_by text not null,
    occurred_at timestamptz,
    created_at timestamptz default clock_timestamp() not null,
    constraint trail_pkey primary key (tenant, session_id, seq),
    constraint trail_tenant_session_id_fkey foreign key(tenant, session_id) references sessions.sessions (tenant, id) on delete cascade
);

create table sessions.snapshots (
    tenant text not null,
    session_id uuid not null,
    through bigint not null,
    since bigint not null,
    summary text,
    messages integer not null,
    token_count bigint not null,
    digest bytea not null,
    updated_at timestamptz default clock_timestamp() not null,
    constraint snapshots_pkey primary key (tenant, session_id),
    constraint snapshots_tenant_session_id_fkey foreign key(tenant, session_id) references sessions.sessions (tenant, id) on delete cascade
);

create table sessions.semantic_objects (
    tenant text not null,
    id uuid default gen_random_uuid() not null,
    number bigint generated always as identity,
    session_id uuid not null,
    object_type text not null,
    source_tool text,
    source_key text,
    segment integer default 0 not null,
    content_full text not null,
    content_hash bytea not null,
    summary_detailed text,
    summary_compact text,
    stub text not null,
    losses_l1 jsonb default '[]' not null,
    losses_l2 jsonb default '[]' not null,
    can_answer_l1 jsonb default '[]' not null,
    can_answer_l2 jsonb default '[]' not null,
    fault_when jsonb default '[]' not null,
    key_entities jsonb default '[]' not null,
    tags text[] default '{}' not null,
    current_fidelity smallint default 0 not null,
    pinned boolean default false not null,
    pinned_until integer,
    pin_reason text,
    superseded_by uuid,
    place bigint not null,
    sent_fidelity smallint default 0 not null,
    risen_place bigint,
    risen_fidelity smallint,
    created_at timestamptz default clock_timestamp() not null,
    last_accessed timestamptz default clock_timestamp() not null,
    created_turn integer not null,
    last_accessed_turn integer not null,
    access_count integer default 0 not null,
    fault_count integer default 0 not null,
    micro_fault_count integer default 0 not null,
    tokens_l0 integer not null,
    tokens_l1 integer,
    tokens_l2 integer,
    tokens_l3 integer not null,
    source_turn_start integer,
    source_turn_end integer,
    start_line integer,
    end_line integer,
    constraint semantic_objects_pkey primary key (tenant, id),
    constraint semantic_objects_tenant_number_key unique (tenant, number),
    constraint semantic_objects_fidelity check (current_fidelity between 0 and 4),
    constraint semantic_objects_tenant_session_id_fkey foreign key(tenant, session_id) references sessions.sessions (tenant, id) on delete cascade
);
create index semantic_objects_session on sessions.semantic_objects (tenant, session_id, place);
create index semantic_objects_source on sessions.semantic_objects (tenant, session_id, source_key) where source_key is not null and superseded_by is null;

create table sessions.object_relationships (
    tenant text not null,
    id uuid default gen_random_uuid() not null,
    session_id uuid not null,
    source_id uuid not null,
    target_id uuid not null,
    relationship text not null,
    metadata jsonb default '{}' not null,
    created_at timestamptz default clock_timestamp() not null,
    constraint object_relationships_pkey primary key (tenant, id),
    constraint object_relationships_edge unique (tenant, source_id, target_id, relationship),
    constraint object_relationships_tenant_session_id_fkey foreign key(tenant, session_id) references sessions.sessions (tenant, id) on delete cascade,
    constraint object_relationships_tenant_source_id_fkey foreign key(tenant, source_id) references sessions.semantic_objects (tenant, id) on delete cascade,
    constraint object_relationships_tenant_target_id_fkey foreign key(tenant, target_id) references sessions.semantic_objects (tenant, id) on delete cascade
);
create index object_relationships_target on sessions.object_relationships (tenant, target_id);
create index object_relationships_session on sessions.object_relationships (tenant, session_id);

create table sessions.fault_history (
    tenant text not null,
    id uuid default gen_random_uuid() not null,
    number bigint generated always as identity,
    session_id uuid not null,
    object_id uuid not null,
    fault_type text not null,
    turn_number integer not null,
    content_hash text not null,
    question text,
    answer text,
    answer_tokens integer,
    avoided_tokens integer,
    latency_ms integer,
    created_at timestamptz default clock_timestamp() not null,
    constraint fault_history_pkey primary key (tenant, id),
    constraint fault_history_tenant_session_id_fkey foreign key(tenant, session_id) references sessions.sessions (tenant, id) on delete cascade,
    constraint fault_history_tenant_object_id_fkey foreign key(tenant, object_id) references sessions.semantic_objects (tenant, id) on delete cascade
);
create index fault_history_session on sessions.fault_history (tenant, session_id, number);
create index fault_history_object on sessions.fault_history (tenant, object_id);
create index fault_history_content on sessions.fault_history (tenant, session_id, content_hash);

create table sessions.fidelity_transitions (
    tenant text not null,
    id uuid default gen_random_uuid() not null,
    number bigint generated always as identity,
    session_id uuid not null,
    object_id uuid not null,
    from_fidelity smallint not null,
    to_fidelity smallint not null,
    trigger text not null,
    turn_number integer not null,
    pressure_zone text,
    token_count integer,
    created_at timestamptz default clock_timestamp() not null,
    constraint fidelity_transitions_pkey primary key (tenant, id),
    constraint fidelity_transitions_tenant_session_id_fkey foreign key(tenant, session_id) references sessions.sessions (tenant, id) on delete cascade,
    constraint fidelity_transitions_tenant_object_id_fkey foreign key(tenant, object_id) references sessions.semantic_objects (tenant, id) on delete cascade
);
create index fidelity_transitions_session on sessions.fidelity_transitions (tenant, session_id, number);
create index fidelity_transitions_object on sessions.fidelity_transitions (tenant, object_id);

create table sessions.admission_scores (
    tenant text not null,
    id uuid default gen_random_uuid() not null,
    number bigint generated always as identity,
    session_id uuid not null,
    object_id uuid,
    admitted boolean not null,
    score_total real not null,
    score_type real not null,
    score_novelty real not null,
    score_utility real not null,
    score_recency real not null,
    threshold real not null,
    content_preview text,
    created_at timestamptz default clock_timestamp() not null,
    constraint admission_scores_pkey primary key (tenant, id),
    constraint admission_scores_tenant_session_id_fkey foreign key(tenant, session_id) references sessions.sessions (tenant, id) on delete cascade,
    constraint admission_scores_tenant_object_id_fkey foreign key(tenant, object_id) references sessions.semantic_objects (tenant, id) on delete cascade
);
create index admission_scores_session on sessions.admission_scores (tenant, session_id, number);
create index admission_scores_object on sessions.admission_scores (tenant, object_id) where object_id is not null;
"""
NAMES = (
    "sessions",
    "trail",
    "snapshots",
    "semantic_objects",
    "object_relationships",
    "fault_history",
    "fidelity_transitions",
    "admission_scores",
)
# The trail is append-only: only a purge takes from it.
APPEND_ONLY = ("trail", "fault_history", "fidelity_transitions", "admission_scores")


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for statement in statements(TABLES):
        op.execute(statement)
    for name in NAMES:
        op.execute(isolate(f"sessions.{name}"))
    op.execute(CLOSE_IF_NEW)
    for name in NAMES:
        rights = "select, insert, delete" if name in APPEND_ONLY else "select, insert, update, delete"
        for statement in grants("cache", f"grant {rights} on sessions.{name} to {{role}}"):
            op.execute(statement)
    for statement in grants("cache", "grant usage on schema sessions to {role}"):
        op.execute(statement)
    op.execute(function("cache.erase_tenant_v2"))


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute(function("cache.erase_tenant_v1"))
    op.execute("drop schema sessions cascade")
