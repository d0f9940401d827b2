"""memory: what agents learned, chunks, vectors, and the commit that never doubles"""

from alembic import op

from shared.schema import grants, statements

revision = "0003"
down_revision = "0002"
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
    occurred_at timestamptz,
    session_id text,
    seq bigint,
    speaker text,
    written_by text not null,
    source_kind text not null,
    recalled_from bigint,
    created_at timestamptz default clock_timestamp() not null,
    updated_at timestamptz default clock_timestamp() not null,
    constraint agent_memory_pkey primary key (tenant, id),
    constraint agent_memory_tenant_agent_name_content_hash_key unique (tenant, agent_name, content_hash)
);
create index agent_memory_agent on memory.agent_memory (tenant, agent_name, created_at);
create index agent_memory_session_seq on memory.agent_memory (tenant, scope, session_id, seq) where seq is not null;

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
    start integer not null,
    stop integer not null,
    words integer not null,
    expires_at timestamptz default 'infinity' not null,
    tsv tsvector not null,
    private boolean default false not null,
    constraint agent_memory_chunks_pkey primary key (tenant, item_id, chunk),
    constraint agent_memory_chunks_tenant_item_id_fkey foreign key(tenant, item_id) references memory.agent_memory (tenant, id) on delete cascade
);
create index agent_memory_chunks_scope on memory.agent_memory_chunks (tenant, scope);
create index agent_memory_chunks_tsv on memory.agent_memory_chunks using gin (tsv);

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

create table memory.index_queue (
    tenant text not null,
    item_id bigint not null,
    scope text not null,
    model text not null,
    attempts integer default 0 not null,
    due_at timestamptz default clock_timestamp() not null,
    constraint index_queue_pkey primary key (tenant, item_id, model),
    constraint index_queue_tenant_item_id_fkey foreign key(tenant, item_id) references memory.agent_memory (tenant, id) on delete cascade
);
create index index_queue_due on memory.index_queue (model, due_at);

alter table memory.agent_memory_chunks set (toast_tuple_target = 8160, autovacuum_vacuum_insert_scale_factor = 0.02);
alter table memory.agent_memory_vec set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02);
"""

# One agent's commits go one after the other, so that of two identical ones the second finds the first.
COMMIT_MEMORY = """
create function memory.commit_memory(
    p_tenant text, p_agent_name text, p_content text, p_content_hash bytea, p_memory_type text,
    p_task_description text, p_skills_used text[], p_outcome text, p_mission_namespace text, p_private boolean,
    p_token_count int, p_occurred_at timestamptz, p_session_id text, p_seq bigint, p_speaker text,
    p_written_by text, p_source_kind text, p_recalled_from bigint,
    p_head text, p_starts int[], p_stops int[], p_chunks text[],
    p_model text, p_embeddings halfvec[], p_dedup_distance float8,
    out memory_id bigint, out status text
) language plpgsql set search_path = pg_catalog, public, memory as $$
declare
    v_scope text := 'agent:' || p_agent_name;
begin
    perform pg_advisory_xact_lock(hashtextextended(p_tenant || E'\\x1f' || p_agent_name, 3));
    select m.id into memory_id from memory.agent_memory m
    where m.tenant = p_tenant and m.agent_name = p_agent_name and m.content_hash = p_content_hash;
    if memory_id is null and array_length(p_embeddings, 1) = 1 then
        select near.item_id into memory_id
        from (
            select v.item_id, v.embedding <=> p_embeddings[1] as distance
            from memory.agent_memory_vec v
            where v.tenant = p_tenant and v.scope = v_scope and v.model = p_model and v.private = p_private
            order by v.embedding <=> p_embeddings[1] limit 5
        ) near
        join memory.agent_memory m on m.tenant = p_tenant and m.id = near.item_id
        where near.distance < p_dedup_distance and m.chunks = 1
          and memory.numbers_in(m.content) = memory.numbers_in(p_content)
        order by near.distance, near.item_id limit 1;
    end if;
    if memory_id is not null then
        update memory.agent_memory m set
            confirmed_count = m.confirmed_count + 1, updated_at = clock_timestamp(),
            outcome = coalesce(p_outcome, m.outcome)
        where m.tenant = p_tenant and m.id = memory_id;
        status := 'updated';
    else
        insert into memory.agent_memory (
            tenant, agent_name, content, content_hash, memory_type, task_description, skills_used, outcome,
            mission_namespace, private, token_count, chunks, occurred_at, session_id, seq, speaker,
            written_by, source_kind, recalled_from)
        values (
            p_tenant, p_agent_name, p_content, p_content_hash, p_memory_type, p_task_description, p_skills_used,
            p_outcome, p_mission_namespace, p_private, p_token_count, cardinality(p_chunks), p_occurred_at,
            p_session_id, p_seq, p_speaker, p_written_by, p_source_kind, p_recalled_from)
        returning id into memory_id;
        insert into memory.agent_memory_chunks (tenant, scope, item_id, chunk, start, stop, words, private, tsv)
        select p_tenant, v_scope, memory_id, c.place - 1, c.start, c.stop,
               array_length(regexp_split_to_array(c.body, '\\s+'), 1), p_private,
               setweight(to_tsvector('english', c.body), 'A') || setweight(to_tsvector('english', p_head), 'B')
        from unnest(p_starts, p_stops, p_chunks) with ordinality c(start, stop, body, place);
        if p_embeddings is null then
            insert into memory.index_queue (tenant, item_id, scope, model)
            values (p_tenant, memory_id, v_scope, p_model);
            status := 'pending';
        else
            insert into memory.agent_memory_vec (tenant, scope, item_id, chunk, model, private, embedding)
            select p_tenant, v_scope, memory_id, e.place - 1, p_model, p_private, e.embedding
            from unnest(p_embeddings) with ordinality e(embedding, place);
            status := 'created';
        end if;
    end if;
    insert into timeline.events (tenant, scope, kind, mission_id, agent_name, session_id, payload)
    values (p_tenant, v_scope, 'memory_commit', p_mission_namespace, p_agent_name, p_session_id,
            jsonb_build_object('id', memory_id, 'memory_type', p_memory_type, 'status', status));
end $$
"""

# Facts that differ in one number are different facts, however near their vectors stand.
NUMBERS_IN = """
create function memory.numbers_in(p_text text) returns text[]
language sql immutable parallel safe set search_path = pg_catalog as $$
    select coalesce(array_agg(found[1] order by place), '{}')
    from regexp_matches(p_text, '[0-9]+(?:[.,:][0-9]+)*', 'g') with ordinality m(found, place)
$$
"""


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for statement in statements(TABLES):
        op.execute(statement)
    op.execute(NUMBERS_IN)
    op.execute(COMMIT_MEMORY)
    for statement in grants(
        "agent_memory",
        "grant usage on schema memory to {role}",
        "grant select, insert, update, delete on all tables in schema memory to {role}",
        "grant usage on all sequences in schema memory to {role}",
    ):
        op.execute(statement)


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("drop schema memory cascade")
