"""cache: missions, entries, chunks, vectors, and the write that keeps budgets exact"""

from alembic import op

from shared.schema import grants, statements

revision = "0002"
down_revision = "0001"
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

create table cache.index_queue (
    tenant text not null,
    item_id bigint not null,
    scope text not null,
    model text not null,
    attempts integer default 0 not null,
    due_at timestamptz default clock_timestamp() not null,
    constraint index_queue_pkey primary key (tenant, item_id, model),
    constraint index_queue_tenant_item_id_fkey foreign key(tenant, item_id) references cache.psychic_cache (tenant, id) on delete cascade
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

alter table cache.missions set (fillfactor = 50);
-- Full text stays in line, and index-only scans of one scope need a fresh visibility map.
alter table cache.psychic_chunks set (toast_tuple_target = 8160, autovacuum_vacuum_insert_scale_factor = 0.02);
alter table cache.psychic_vec set (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.02);
"""

# Words of each chunk with where they stand: A its own text, B who and when, C the end of what came before it.
# `words` counts the positions of its own words: the length that search divides by.
CHUNK_WORDS = """
create function cache.chunk_words(
    p_keys text[], p_starts int[], p_stops int[], p_chunks text[], p_head text, p_previous text)
returns table (chunk smallint, start int, stop int, words int, tsv tsvector, scoped tsvector)
language sql stable set search_path = pg_catalog as $$
    select (c.place - 1)::smallint, c.start, c.stop, greatest(1, o.words)::int, o.every,
           array_to_tsvector(array(
               select k || ':' || w from unnest(p_keys) k, unnest(tsvector_to_array(o.every)) w))
    from (
        select place, start, stop, body, coalesce(lag(body) over (order by place), p_previous) as previous
        from unnest(p_starts, p_stops, p_chunks) with ordinality u(start, stop, body, place)
    ) c
    cross join lateral (
        select to_tsvector('english', c.body) as own
    ) t
    cross join lateral (
        select setweight(t.own, 'A') || setweight(to_tsvector('english', p_head), 'B')
               || setweight(to_tsvector('english', coalesce(right(c.previous, 300), '')), 'C') as every,
               (select sum(cardinality(w.positions)) from unnest(t.own) w) as words
    ) o
$$
"""

# The whole write in one round trip, exact under concurrency: a VOLATILE function takes a new snapshot for each
# statement after the mission's row is locked, which a single CTE statement would not. SQLSTATEs of ours: SJ001,
# larger than the whole budget; SJ002, only protected checkpoints are left to evict.
PUT_ENTRY = """
create function cache.put_entry(
    p_tenant text, p_mission text, p_context_type text, p_content text, p_metadata jsonb, p_agent_name text,
    p_tags text[], p_source_turn int, p_dispatch_id bigint, p_token_count int, p_ttl_hours float8,
    p_occurred_at timestamptz, p_session_id text, p_seq bigint, p_speaker text,
    p_written_by text, p_source_kind text, p_recalled_from bigint,
    p_keys text[], p_head text, p_starts int[], p_stops int[], p_chunks text[], p_model text,
    p_token_budget int, p_entry_budget int, p_default_ttl_hours float8,
    out entry_id bigint, out total_tokens int, out evicted int
) language plpgsql set search_path = pg_catalog, public, cache as $$
declare
    m cache.missions;
    v_now timestamptz;
    v_expires timestamptz;
    v_tokens int;
    v_count int;
    v_over_tokens int;
    v_over_entries int;
    v_previous text;
begin
    evicted := 0;
    insert into cache.missions as c (tenant, mission_id) values (p_tenant, p_mission)
    on conflict (tenant, mission_id) do update set last_write_at = clock_timestamp()
    returning c.* into m;
    v_now := clock_timestamp();
    p_token_budget := coalesce(m.token_budget, p_token_budget);
    p_entry_budget := coalesce(m.entry_budget, p_entry_budget);
    if p_token_count > p_token_budget then
        raise exception 'an entry of % tokens cannot fit a budget of %', p_token_count, p_token_budget
            using errcode = 'SJ001';
    end if;
    if m.next_expiry <= v_now then
        m := cache.expire_mission(p_tenant, p_mission, v_now);
    end if;

    v_expires := v_now + coalesce(p_ttl_hours, m.ttl_hours, p_default_ttl_hours) * interval '1 hour';
    insert into cache.psychic_cache (
        tenant, mission_id, context_type, content, metadata, agent_name, tags, source_turn, dispatch_id,
        token_count, occurred_at, session_id, seq, speaker, written_by, source_kind, recalled_from,
        created_at, expires_at)
    values (
        p_tenant, p_mission, p_context_type, p_content, p_metadata, p_agent_name, p_tags, p_source_turn,
        p_dispatch_id, p_token_count, p_occurred_at, p_session_id, p_seq, p_speaker, p_written_by,
        p_source_kind, p_recalled_from, v_now, v_expires)
    returning id into entry_id;
    if p_seq is not null then
        select e.content into v_previous from cache.psychic_cache e
        where e.tenant = p_tenant and e.scope = 'mission:' || p_mission and e.session_id = p_session_id
          and e.seq < p_seq
        order by e.seq desc limit 1;
    end if;
    insert into cache.psychic_chunks
        (tenant, scope, item_id, chunk, chunks, start, stop, words, expires_at, tsv, scoped)
    select p_tenant, 'mission:' || p_mission, entry_id, c.chunk, cardinality(p_chunks), c.start, c.stop, c.words,
           v_expires, c.tsv, c.scoped
    from cache.chunk_words(p_keys, p_starts, p_stops, p_chunks, p_head, v_previous) c;
    insert into cache.index_queue (tenant, item_id, scope, model)
    values (p_tenant, entry_id, 'mission:' || p_mission, p_model);

    v_over_tokens := m.tokens + p_token_count - p_token_budget;
    v_over_entries := m.entries + 1 - p_entry_budget;
    while v_over_tokens > 0 or v_over_entries > 0 loop
        with oldest as (
            select e.id, e.token_count from cache.psychic_cache e
            where e.tenant = p_tenant and e.mission_id = p_mission and e.id <> entry_id
              and (e.context_type <> 'thread_checkpoint' or exists (
                  select 1 from cache.psychic_cache newer
                  where newer.tenant = p_tenant and newer.mission_id = p_mission
                    and newer.context_type = 'thread_checkpoint'
                    and newer.session_id = e.session_id and newer.id > e.id))
            order by e.id limit 128
        ), walk as (
            select id, sum(token_count) over w - token_count as before, row_number() over w as place
            from oldest window w as (order by id)
        ), gone as (
            delete from cache.psychic_cache e using walk
            where e.tenant = p_tenant and e.id = walk.id
              and (walk.before < v_over_tokens or walk.place <= v_over_entries)
            returning e.token_count
        )
        select coalesce(sum(token_count), 0), count(*) into v_tokens, v_count from gone;
        if v_count = 0 then
            raise exception 'only the newest checkpoints are left, and the entry does not fit beside them'
                using errcode = 'SJ002';
        end if;
        evicted := evicted + v_count;
        m.tokens := m.tokens - v_tokens;
        v_over_tokens := v_over_tokens - v_tokens;
        v_over_entries := v_over_entries - v_count;
    end loop;

    total_tokens := m.tokens + p_token_count;
    update cache.missions c set
        tokens = total_tokens,
        entries = m.entries + 1 - evicted,
        written_count = c.written_count + 1,
        evicted_count = c.evicted_count + evicted,
        next_expiry = least(c.next_expiry, v_expires)
    where c.tenant = p_tenant and c.mission_id = p_mission;
    insert into timeline.events (tenant, scope, kind, mission_id, agent_name, session_id, dispatch_id, payload)
    values (p_tenant, 'mission:' || p_mission, 'cache_write', p_mission, p_agent_name, p_session_id,
            p_dispatch_id, jsonb_build_object('id', entry_id, 'context_type', p_context_type,
            'token_count', p_token_count, 'evicted_count', evicted));
end $$
"""

# Expired entries leave the counters here, whether a writer, a reader or the sweep comes first.
EXPIRE_MISSION = """
create function cache.expire_mission(p_tenant text, p_mission text, p_now timestamptz) returns cache.missions
language plpgsql set search_path = pg_catalog, public, cache as $$
declare
    m cache.missions;
    v_tokens int;
    v_count int;
begin
    perform 1 from cache.missions where tenant = p_tenant and mission_id = p_mission for update;
    with gone as (
        delete from cache.psychic_cache
        where tenant = p_tenant and mission_id = p_mission and expires_at <= p_now
        returning token_count
    )
    select coalesce(sum(token_count), 0), count(*) into v_tokens, v_count from gone;
    update cache.missions c set
        tokens = c.tokens - v_tokens,
        entries = c.entries - v_count,
        expired_count = c.expired_count + v_count,
        next_expiry = coalesce((
            select min(e.expires_at) from cache.psychic_cache e
            where e.tenant = p_tenant and e.mission_id = p_mission), 'infinity')
    where c.tenant = p_tenant and c.mission_id = p_mission
    returning c.* into m;
    return m;
end $$
"""


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for statement in statements(TABLES):
        op.execute(statement)
    op.execute(CHUNK_WORDS)
    op.execute(EXPIRE_MISSION)
    op.execute(PUT_ENTRY)
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
