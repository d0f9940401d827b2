"""cache: missions, entries, chunks, vectors, dispatches, and the write that keeps budgets exact"""

from alembic import op

from shared.database.schema import function, grants, statements

revision = "0002_cache"
down_revision = "0001_timeline"
branch_labels = None
depends_on = None

TABLES = """
create schema cache;

create table cache.embedding_cache (
    key bytea not null,
    embedding halfvec(512) not null,
    used_at timestamptz default clock_timestamp() not null,
    constraint embedding_cache_pkey primary key (key)
);
create index embedding_cache_used_at on cache.embedding_cache (used_at);

create table cache.idempotency (
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
create index idempotency_created_at on cache.idempotency (created_at);

create table cache.missions (
    tenant text not null,
    mission_id text not null,
    scope text generated always as ('mission:' || mission_id) stored not null,
    token_budget integer,
    entry_budget integer,
    ttl_hours real,
    tokens integer default 0 not null,
    entries integer default 0 not null,
    written_count bigint default 0 not null,
    evicted_count bigint default 0 not null,
    expired_count bigint default 0 not null,
    cleared_count bigint default 0 not null,
    evicted_up_to bigint default 0 not null,
    next_expiry timestamptz default 'infinity' not null,
    created_at timestamptz default clock_timestamp() not null,
    last_write_at timestamptz default clock_timestamp() not null,
    constraint missions_pkey primary key (tenant, mission_id)
);

create table cache.psychic_cache (
    tenant text not null,
    id bigint generated always as identity,
    mission_id text not null,
    scope text generated always as ('mission:' || mission_id) stored not null,
    context_type text not null,
    content text not null,
    metadata jsonb default '{}' not null,
    agent_name text,
    tags text[] default '{}' not null,
    source_turn integer,
    dispatch_id bigint,
    token_count integer not null,
    occurred_at timestamptz,
    session_id text,
    seq bigint,
    speaker text,
    user_id text,
    written_by text not null,
    source_kind text not null,
    recalled_from bigint,
    created_at timestamptz not null,
    expires_at timestamptz not null,
    constraint psychic_cache_pkey primary key (tenant, id),
    constraint psychic_cache_tenant_mission_id_fkey foreign key(tenant, mission_id) references cache.missions (tenant, mission_id) on delete cascade
);
create index psychic_cache_checkpoint on cache.psychic_cache (tenant, mission_id, session_id, id) where context_type = 'thread_checkpoint';
create index psychic_cache_expiry on cache.psychic_cache (tenant, mission_id, expires_at);
create index psychic_cache_mission on cache.psychic_cache (tenant, mission_id, id) include (token_count);
create index psychic_cache_session_seq on cache.psychic_cache (tenant, scope, session_id, seq) where seq is not null;
create index psychic_cache_user on cache.psychic_cache (tenant, user_id) where user_id is not null;

create table cache.index_queue (
    tenant text not null,
    store text not null,
    item_id bigint not null,
    scope text not null,
    model text not null,
    attempts integer default 0 not null,
    due_at timestamptz default clock_timestamp() not null,
    constraint index_queue_pkey primary key (tenant, store, item_id, model)
);
create index index_queue_due on cache.index_queue (model, due_at);

create table cache.psychic_chunks (
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
    constraint psychic_chunks_pkey primary key (tenant, item_id, chunk),
    constraint psychic_chunks_tenant_item_id_fkey foreign key(tenant, item_id) references cache.psychic_cache (tenant, id) on delete cascade
);
create index psychic_chunks_scope on cache.psychic_chunks (tenant, scope);
create index psychic_chunks_scoped on cache.psychic_chunks using gin (scoped);

create table cache.psychic_vec (
    tenant text not null,
    scope text not null,
    item_id bigint not null,
    chunk smallint not null,
    model text not null,
    expires_at timestamptz default 'infinity' not null,
    embedding halfvec(512) not null,
    constraint psychic_vec_pkey primary key (tenant, item_id, chunk, model),
    constraint psychic_vec_tenant_item_id_fkey foreign key(tenant, item_id) references cache.psychic_cache (tenant, id) on delete cascade
);
create index psychic_vec_scope on cache.psychic_vec (tenant, scope, model) include (item_id, chunk, expires_at, embedding);

create table cache.agent_dispatch (
    tenant text not null,
    id bigint generated always as identity,
    mission_id text not null,
    scope text generated always as ('mission:' || mission_id) stored not null,
    agent_name text not null,
    task text not null,
    parent_id bigint,
    session_id text,
    status text default 'dispatched' not null,
    progress text,
    percent smallint,
    outcome text,
    summary text,
    outputs integer default 0 not null,
    written_by text not null,
    created_at timestamptz default clock_timestamp() not null,
    last_heartbeat timestamptz default clock_timestamp() not null,
    closed_at timestamptz,
    constraint agent_dispatch_pkey primary key (tenant, id)
);
create index agent_dispatch_live on cache.agent_dispatch (id) where closed_at is null;
create index agent_dispatch_mission on cache.agent_dispatch (tenant, mission_id, id);

-- Every write updates the row of its mission, and of its dispatch: each page keeps room for that.
alter table cache.missions set (fillfactor = 50);
alter table cache.agent_dispatch set (fillfactor = 70);
-- The words stay in line, and index-only scans of one scope need a fresh visibility map.
alter table cache.psychic_chunks set (toast_tuple_target = 8160, autovacuum_vacuum_insert_scale_factor = 0.02);
alter table cache.psychic_vec set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02);
"""

FUNCTIONS = (
    "cache.chunk_words_v1",
    "cache.expire_mission_v1",
    "cache.tick_dispatches_v1",
    "cache.put_entries_v1",
    "cache.shrink_mission_v1",
)


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for statement in statements(TABLES):
        op.execute(statement)
    for name in FUNCTIONS:
        op.execute(function(name))
    for statement in grants(
        "cache",
        "grant usage on schema cache to {role}",
        "grant select, insert, update, delete on all tables in schema cache to {role}",
        "grant usage on all sequences in schema cache to {role}",
    ):
        op.execute(statement)


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("drop schema cache cascade")
