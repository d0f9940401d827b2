"""memory: what agents learned, chunks, vectors, and the commit that never doubles"""

from alembic import op

from shared.database.schema import function, grants, statements

revision = "0003_memory"
down_revision = "0002_cache"
branch_labels = None
depends_on = None

TABLES = """
create schema memory;

create table memory.agent_memory (
    tenant text not null,
    id bigint generated always as identity,
    agent_name text not null,
    scope text generated always as ('agent:' || agent_name) stored not null,
    content text not null,
    content_hash bytea not null,
    memory_type text not null,
    task_description text,
    skills_used text[] default '{}' not null,
    outcome text,
    mission_namespace text,
    private boolean default false not null,
    token_count integer not null,
    chunks integer not null,
    access_count bigint default 0 not null,
    confirmed_count bigint default 0 not null,
    pending boolean default false not null,
    occurred_at timestamptz,
    session_id text,
    seq bigint,
    speaker text,
    written_by text not null,
    source_kind text not null,
    recalled_from bigint,
    dispatch_id bigint,
    user_id text,
    created_at timestamptz default clock_timestamp() not null,
    updated_at timestamptz default clock_timestamp() not null,
    constraint agent_memory_pkey primary key (tenant, id),
    constraint agent_memory_tenant_agent_name_content_hash_key unique (tenant, agent_name, content_hash)
);
create index agent_memory_agent on memory.agent_memory (tenant, agent_name, created_at);
create index agent_memory_accessed on memory.agent_memory (tenant, agent_name, access_count);
create index agent_memory_session_seq on memory.agent_memory (tenant, scope, session_id, seq) where seq is not null;
create index agent_memory_user on memory.agent_memory (tenant, user_id) where user_id is not null;

create table memory.confirmations (
    tenant text not null,
    id bigint generated always as identity,
    memory_id bigint not null,
    written_by text not null,
    source_kind text not null,
    mission_namespace text,
    dispatch_id bigint,
    recalled_from bigint,
    absorbed_id bigint,
    count bigint default 1 not null,
    first_at timestamptz default clock_timestamp() not null,
    last_at timestamptz default clock_timestamp() not null,
    constraint confirmations_pkey primary key (tenant, id),
    constraint confirmations_tenant_memory_id_fkey foreign key(tenant, memory_id) references memory.agent_memory (tenant, id) on delete cascade,
    constraint confirmations_origin unique nulls not distinct (tenant, memory_id, written_by, source_kind, mission_namespace, dispatch_id, recalled_from, absorbed_id)
);
create index confirmations_absorbed on memory.confirmations (tenant, absorbed_id) where absorbed_id is not null;

create table memory.embedding_cache (
    key bytea not null,
    embedding halfvec(512) not null,
    used_at timestamptz default clock_timestamp() not null,
    constraint embedding_cache_pkey primary key (key)
);
create index embedding_cache_used_at on memory.embedding_cache (used_at);

create table memory.idempotency (
    tenant text not null,
    key text not null,
    route text not null,
    scope text not null,
    body_hash bytea not null,
    status smallint not null,
    answer jsonb not null,
    created_at timestamptz default clock_timestamp() not null,
    constraint idempotency_pkey primary key (tenant, key)
);
create index idempotency_created_at on memory.idempotency (created_at);

create table memory.agent_memory_chunks (
    tenant text not null,
    scope text not null,
    item_id bigint not null,
    chunk smallint not null,
    chunks smallint not null,
    start integer not null,
    stop integer not null,
    words integer not null,
    expires_at timestamptz default 'infinity' not null,
    tsv tsvector not null,
    scoped tsvector not null,
    private boolean default false not null,
    constraint agent_memory_chunks_pkey primary key (tenant, item_id, chunk),
    constraint agent_memory_chunks_tenant_item_id_fkey foreign key(tenant, item_id) references memory.agent_memory (tenant, id) on delete cascade
);
create index agent_memory_chunks_scope on memory.agent_memory_chunks (tenant, scope);
create index agent_memory_chunks_scoped on memory.agent_memory_chunks using gin (scoped);

create table memory.agent_memory_vec (
    tenant text not null,
    scope text not null,
    item_id bigint not null,
    chunk smallint not null,
    model text not null,
    expires_at timestamptz default 'infinity' not null,
    embedding halfvec(512) not null,
    private boolean default false not null,
    constraint agent_memory_vec_pkey primary key (tenant, item_id, chunk, model),
    constraint agent_memory_vec_tenant_item_id_fkey foreign key(tenant, item_id) references memory.agent_memory (tenant, id) on delete cascade
);
create index agent_memory_vec_scope on memory.agent_memory_vec (tenant, scope, model) include (item_id, chunk, expires_at, private, embedding);
create index agent_memory_vec_nearest on memory.agent_memory_vec using hnsw (embedding halfvec_cosine_ops);

create table memory.index_queue (
    tenant text not null,
    store text not null,
    item_id bigint not null,
    scope text not null,
    model text not null,
    attempts integer default 0 not null,
    due_at timestamptz default clock_timestamp() not null,
    constraint index_queue_pkey primary key (tenant, store, item_id, model)
);
create index index_queue_due on memory.index_queue (model, due_at);

alter table memory.agent_memory_chunks set (toast_tuple_target = 8160, autovacuum_vacuum_insert_scale_factor = 0.02);
alter table memory.agent_memory_vec set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02);
"""

FUNCTIONS = ("memory.chunk_words_v1",)


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for statement in statements(TABLES):
        op.execute(statement)
    for name in FUNCTIONS:
        op.execute(function(name))
    for statement in grants(
        "agent_memory",
        "grant usage on schema memory to {role}",
        "grant select, insert, update, delete on all tables in schema memory to {role}",
        # Update: an import that keeps its ids moves the sequence past them.
        "grant usage, select, update on all sequences in schema memory to {role}",
    ):
        op.execute(statement)


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("drop schema memory cascade")
