"""context: keys, weights, budgets and the log of assemblies"""

from alembic import op

from shared.database.schema import grants, statements

revision = "0004_context"
down_revision = "0003_memory"
branch_labels = None
depends_on = None

TABLES = """
create schema context;

create sequence context.assembly_id_seq;

create table context.api_keys (
    tenant text not null,
    id bigint generated always as identity,
    name text not null,
    token_hash bytea not null,
    old_token_hash bytea,
    old_expires_at timestamptz,
    access text[] not null,
    agent_name text,
    missions text[],
    users text[],
    requests_per_second double precision,
    burst integer,
    requests_per_day bigint,
    tokens_per_day bigint,
    created_by text,
    created_at timestamptz default clock_timestamp() not null,
    expires_at timestamptz default 'infinity' not null,
    revoked_at timestamptz,
    constraint api_keys_pkey primary key (tenant, id),
    constraint api_keys_token_hash_key unique (token_hash)
);
create index api_keys_old_token_hash on context.api_keys (old_token_hash) where old_token_hash is not null;

create table context.api_key_usage (
    tenant text not null,
    key_id bigint not null,
    day date not null,
    requests bigint not null,
    tokens bigint not null,
    last_used_at timestamptz default clock_timestamp() not null,
    constraint api_key_usage_pkey primary key (tenant, key_id, day)
);

create table context.caller_budget_config (
    tenant text not null,
    caller text not null,
    default_budget integer not null,
    min_budget integer not null,
    max_budget integer not null,
    ceiling integer,
    manual boolean default false not null,
    updated_at timestamptz default clock_timestamp() not null,
    constraint caller_budget_config_pkey primary key (tenant, caller)
);

create table context.context_assembly_log (
    tenant text not null,
    id bigint default nextval('context.assembly_id_seq') not null,
    caller text not null,
    mission_namespace text,
    session_id text,
    user_id text,
    dispatch_id bigint,
    scopes text[] not null,
    query_hash bytea not null,
    token_budget integer not null,
    budget_asked boolean default false not null,
    token_shares jsonb default '{}' not null,
    as_of timestamptz,
    total_tokens integer not null,
    retrieval_ms real not null,
    low_relevance boolean not null,
    degraded jsonb default '[]' not null,
    candidates jsonb default '[]' not null,
    taken text[] default '{}' not null,
    below_floor text[] default '{}' not null,
    used_source_ids text[],
    weak_source_ids text[] default '{}' not null,
    tokens_used integer,
    feedback_kind text,
    processed_at timestamptz,
    created_at timestamptz default clock_timestamp() not null,
    constraint context_assembly_log_pkey primary key (tenant, id, created_at)
) partition by range (created_at);
create index context_assembly_log_caller on context.context_assembly_log (tenant, caller, created_at);
create index context_assembly_log_newest on context.context_assembly_log (tenant, created_at, id);
create index context_assembly_log_unprocessed on context.context_assembly_log (tenant, caller)
    where processed_at is null and feedback_kind is not null;
create index context_assembly_log_scopes on context.context_assembly_log using gin (scopes);
create table context.context_assembly_log_default partition of context.context_assembly_log default;

create table context.embedding_cache (
    key bytea not null,
    embedding halfvec(512) not null,
    used_at timestamptz default clock_timestamp() not null,
    constraint embedding_cache_pkey primary key (key)
);
create index embedding_cache_used_at on context.embedding_cache (used_at);

create table context.idempotency (
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
create index idempotency_created_at on context.idempotency (created_at);

create table context.source_weight_history (
    tenant text not null,
    id bigint generated always as identity,
    caller text not null,
    source text not null,
    old_weight real not null,
    new_weight real not null,
    old_token_share real not null,
    new_token_share real not null,
    cause text not null,
    effectiveness real,
    assemblies integer,
    created_at timestamptz default clock_timestamp() not null,
    constraint source_weight_history_pkey primary key (tenant, id)
);
create index source_weight_history_caller on context.source_weight_history (tenant, caller, created_at);

create table context.source_weights (
    tenant text not null,
    caller text not null,
    source text not null,
    weight real not null,
    token_share real not null,
    manual boolean default false not null,
    updated_at timestamptz default clock_timestamp() not null,
    constraint source_weights_pkey primary key (tenant, caller, source)
);

alter sequence context.assembly_id_seq owned by context.context_assembly_log.id;
"""


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for statement in statements(TABLES):
        op.execute(statement)
    op.execute("select timeline.maintain_partitions('context.context_assembly_log', '90 days')")
    for statement in grants(
        "context",
        "grant usage on schema context to {role}",
        "grant select, insert, update, delete on all tables in schema context to {role}",
        "grant usage on all sequences in schema context to {role}",
    ):
        op.execute(statement)


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("drop schema context cascade")
