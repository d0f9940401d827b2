"""cache: missions, entries, chunks, vectors, dispatches, and the write that keeps budgets exact"""

from alembic import op

from shared.database.schema import grants, statements

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

-- Both rows are updated by every write that concerns them: room for it on their page.
alter table cache.missions set (fillfactor = 50);
alter table cache.agent_dispatch set (fillfactor = 70);
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
language sql stable as $$
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

# One mission's writes in one round trip, with the outcome of writing them one after the other, exact under
# concurrency: a VOLATILE function takes a new snapshot for each statement after the mission's row is locked, which
# a single CTE statement would not. `p_entries` is an array of objects, `p_tokens` their sizes. A row for each in
# its order; `refused` is 'larger' (than the whole budget) or 'checkpoints' (only protected ones are left to evict),
# and leaves no trace. Every statement has one sensible plan: planning it anew for each call would cost more than it.
PUT_ENTRIES = """
create function cache.put_entries(
    p_tenant text, p_mission text, p_entries jsonb, p_tokens int[], p_key text, p_model text,
    p_token_budget int, p_entry_budget int, p_default_ttl_hours float8
) returns table (entry_id bigint, total_tokens int, evicted int, refused text, token_budget int)
language plpgsql set search_path = pg_catalog, public, cache set plan_cache_mode = force_generic_plan as $$
declare
    m cache.missions;
    v_scope text := 'mission:' || p_mission;
    v_new boolean := false;
    v_now timestamptz;
    v_ids bigint[];
    v_checkpoints boolean[];
    v_dispatches bigint[];
    v_expires timestamptz;
    v_token int;
    v_place int := 0;
    v_buffer bigint[] := '{}';
    v_buffer_tokens int[];
    v_at int := 1;
    v_after bigint := 0;
    v_victims bigint[] := '{}';
    v_mark int;
    v_tokens int;
    v_by_place bigint[];
    v_evictions int[];
    v_written int := 0;
begin
    loop
        select * into m from cache.missions c where c.tenant = p_tenant and c.mission_id = p_mission for update;
        exit when found;
        insert into cache.missions (tenant, mission_id) values (p_tenant, p_mission) on conflict do nothing;
        v_new := found;
    end loop;
    v_now := clock_timestamp();
    token_budget := coalesce(m.token_budget, p_token_budget);
    p_entry_budget := coalesce(m.entry_budget, p_entry_budget);
    if m.next_expiry <= v_now then
        m := cache.expire_mission(p_tenant, p_mission, v_now);
    end if;

    with inserted as (
        insert into cache.psychic_cache (
            tenant, mission_id, context_type, content, metadata, agent_name, tags, source_turn, dispatch_id,
            token_count, occurred_at, session_id, seq, speaker, written_by, source_kind, recalled_from,
            created_at, expires_at)
        select p_tenant, p_mission, e.context_type, e.content, e.metadata, e.agent_name, e.tags, e.source_turn,
               e.dispatch_id, p_tokens[e.place], e.occurred_at, e.session_id, e.seq, e.speaker, e.written_by,
               e.source_kind, e.recalled_from, v_now,
               v_now + coalesce(e.ttl_hours, m.ttl_hours, p_default_ttl_hours) * interval '1 hour'
        from rows from (jsonb_to_recordset(p_entries) as (
            context_type text, content text, metadata jsonb, agent_name text, tags text[], source_turn int,
            dispatch_id bigint, occurred_at timestamptz, session_id text, seq bigint, speaker text,
            written_by text, source_kind text, recalled_from bigint, ttl_hours float8
        )) with ordinality e(
            context_type, content, metadata, agent_name, tags, source_turn, dispatch_id, occurred_at, session_id,
            seq, speaker, written_by, source_kind, recalled_from, ttl_hours, place)
        where p_tokens[e.place] <= put_entries.token_budget
        order by e.place
        returning id, context_type, dispatch_id, expires_at
    )
    select array_agg(i.id order by i.id), array_agg(i.context_type = 'thread_checkpoint' order by i.id),
           array_agg(i.dispatch_id order by i.dispatch_id) filter (where i.dispatch_id is not null),
           min(i.expires_at)
    into v_ids, v_checkpoints, v_dispatches, v_expires
    from inserted i;

    for v_number in 1 .. cardinality(p_tokens) loop
        v_token := p_tokens[v_number];
        entry_id := null;
        evicted := 0;
        refused := null;
        total_tokens := m.tokens;
        if v_token > token_budget then
            refused := 'larger';
            return next;
            continue;
        end if;
        v_place := v_place + 1;
        entry_id := v_ids[v_place];
        if v_checkpoints[v_place] then
            -- From here on an older checkpoint of its session may go: look again from the oldest.
            v_buffer := '{}';
            v_at := 1;
            v_after := 0;
        end if;
        v_mark := cardinality(v_victims);
        v_tokens := m.tokens;
        while v_tokens + v_token > token_budget or m.entries - evicted + 1 > p_entry_budget loop
            if v_at > cardinality(v_buffer) then
                select array_agg(o.id order by o.id), array_agg(o.token_count order by o.id), 1
                into v_buffer, v_buffer_tokens, v_at
                from (
                    select e.id, e.token_count from cache.psychic_cache e
                    where e.tenant = p_tenant and e.mission_id = p_mission
                      and e.id > v_after and e.id < entry_id and e.id <> all (v_victims)
                      and (e.context_type <> 'thread_checkpoint' or exists (
                          select 1 from cache.psychic_cache newer
                          where newer.tenant = p_tenant and newer.mission_id = p_mission
                            and newer.context_type = 'thread_checkpoint' and newer.session_id = e.session_id
                            and newer.id > e.id and newer.id <= entry_id))
                    order by e.id limit 4 * (1 + cardinality(p_tokens) - v_number)
                ) o;
                if v_buffer is null then
                    refused := 'checkpoints';
                    exit;
                end if;
                v_after := v_buffer[cardinality(v_buffer)];
            end if;
            v_victims := v_victims || v_buffer[v_at];
            v_tokens := v_tokens - v_buffer_tokens[v_at];
            v_at := v_at + 1;
            evicted := evicted + 1;
        end loop;
        if refused is not null then
            delete from cache.psychic_cache e where e.tenant = p_tenant and e.id = entry_id;
            v_victims := v_victims[1:v_mark];
            v_buffer := '{}';
            v_at := 1;
            v_after := 0;
            entry_id := null;
            evicted := 0;
            return next;
            continue;
        end if;
        m.tokens := v_tokens + v_token;
        m.entries := m.entries - evicted + 1;
        total_tokens := m.tokens;
        v_by_place[v_number] := entry_id;
        v_evictions[v_number] := evicted;
        v_written := v_written + 1;
        return next;
    end loop;
    if v_written = 0 then
        if v_new then
            delete from cache.missions c where c.tenant = p_tenant and c.mission_id = p_mission;
        end if;
        return;
    end if;

    -- By their places, without a join: a plan must not depend on how much the tenant holds.
    with given as materialized (
        select v_by_place[e.place] as id, e.*, v_evictions[e.place] as evictions, p_tokens[e.place] as token_count
        from rows from (jsonb_to_recordset(p_entries) as (
            context_type text, agent_name text, session_id text, seq bigint, dispatch_id bigint, ttl_hours float8,
            head text, starts int[], stops int[], chunks text[]
        )) with ordinality e(
            context_type, agent_name, session_id, seq, dispatch_id, ttl_hours, head, starts, stops, chunks, place)
        where v_by_place[e.place] is not null
    ), chunked as (
        insert into cache.psychic_chunks
            (tenant, scope, item_id, chunk, chunks, start, stop, words, expires_at, tsv, scoped)
        select p_tenant, v_scope, g.id, w.chunk, cardinality(g.chunks), w.start, w.stop, w.words,
               v_now + coalesce(g.ttl_hours, m.ttl_hours, p_default_ttl_hours) * interval '1 hour', w.tsv, w.scoped
        from given g
        left join lateral (
            select before.content from cache.psychic_cache before
            where before.tenant = p_tenant and before.scope = v_scope and before.session_id = g.session_id
              and before.seq < g.seq
            order by before.seq desc limit 1
        ) previous on g.seq is not null
        cross join lateral cache.chunk_words(
            array[p_key], g.starts, g.stops, g.chunks, g.head, previous.content) w
        where g.id <> all (v_victims)
    ), queued as (
        insert into cache.index_queue (tenant, item_id, scope, model)
        select p_tenant, g.id, v_scope, p_model from given g where g.id <> all (v_victims)
    )
    insert into timeline.events (tenant, scope, kind, mission_id, agent_name, session_id, dispatch_id, payload)
    select p_tenant, v_scope, 'cache_write', p_mission, g.agent_name, g.session_id, g.dispatch_id,
           jsonb_build_object('id', g.id, 'context_type', g.context_type, 'token_count', g.token_count,
                              'evicted_count', g.evictions)
    from given g order by g.place;
    if v_dispatches is not null then
        perform cache.tick_dispatches(p_tenant, p_mission, v_by_place, v_dispatches);
    end if;
    if v_victims <> '{}' then
        delete from cache.psychic_cache e
        where e.tenant = p_tenant and e.mission_id = p_mission and e.id = any (v_victims);
    end if;
    update cache.missions c set
        tokens = m.tokens,
        entries = m.entries,
        written_count = c.written_count + v_written,
        evicted_count = c.evicted_count + cardinality(v_victims),
        next_expiry = least(c.next_expiry, v_expires),
        last_write_at = v_now
    where c.tenant = p_tenant and c.mission_id = p_mission;
end $$
"""

# Live dispatches that an entry names are alive; outputs are counted where they belong, since entries do not stay.
# Locked in the order of their ids, as every other transaction that locks several.
TICK_DISPATCHES = """
create function cache.tick_dispatches(p_tenant text, p_mission text, p_written bigint[], p_dispatches bigint[])
returns void language sql set search_path = pg_catalog, public, cache as $$
    with locked as materialized (
        select d.id from cache.agent_dispatch d
        where d.tenant = p_tenant and d.id = any (p_dispatches)
        order by d.id for no key update
    ), outputs as (
        select e.dispatch_id, count(*) as n from cache.psychic_cache e
        where e.tenant = p_tenant and e.id = any (p_written) and e.context_type = 'output'
        group by e.dispatch_id
    )
    update cache.agent_dispatch d set
        last_heartbeat = case when d.closed_at is null then clock_timestamp() else d.last_heartbeat end,
        outputs = d.outputs + case when d.mission_id = p_mission then coalesce(o.n, 0) else 0 end
    from locked l left join outputs o on o.dispatch_id = l.id
    where d.tenant = p_tenant and d.id = l.id and (d.closed_at is null or o.n is not null)
$$
"""

# After a budget was lowered: the oldest go until what is left fits; the newest checkpoints stay in any case.
SHRINK_MISSION = """
create function cache.shrink_mission(p_tenant text, p_mission text, p_token_budget int, p_entry_budget int)
returns int language plpgsql set search_path = pg_catalog, public, cache as $$
declare
    m cache.missions;
    v_tokens int;
    v_count int;
begin
    select * into m from cache.missions c where c.tenant = p_tenant and c.mission_id = p_mission for update;
    m := cache.expire_mission(p_tenant, p_mission, clock_timestamp());
    with held as (
        select e.id, e.token_count, e.context_type = 'thread_checkpoint' and not exists (
                   select 1 from cache.psychic_cache newer
                   where newer.tenant = p_tenant and newer.mission_id = p_mission
                     and newer.context_type = 'thread_checkpoint' and newer.session_id = e.session_id
                     and newer.id > e.id) as protected
        from cache.psychic_cache e where e.tenant = p_tenant and e.mission_id = p_mission
    ), walk as (
        select id, protected, sum(token_count) over w as tokens, row_number() over w as place
        from held window w as (order by protected desc, id desc)
    ), gone as (
        delete from cache.psychic_cache e using walk
        where e.tenant = p_tenant and e.id = walk.id and not walk.protected
          and (walk.tokens > coalesce(m.token_budget, p_token_budget)
               or walk.place > coalesce(m.entry_budget, p_entry_budget))
        returning e.token_count
    )
    select coalesce(sum(token_count), 0), count(*) into v_tokens, v_count from gone;
    update cache.missions c set
        tokens = c.tokens - v_tokens, entries = c.entries - v_count, evicted_count = c.evicted_count + v_count
    where c.tenant = p_tenant and c.mission_id = p_mission;
    return v_count;
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
    if v_count > 0 then
        insert into timeline.events (tenant, scope, kind, mission_id, payload)
        values (p_tenant, 'mission:' || p_mission, 'cache_expire', p_mission,
                jsonb_build_object('expired_count', v_count, 'freed_tokens', v_tokens));
    end if;
    return m;
end $$
"""


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    for statement in statements(TABLES):
        op.execute(statement)
    for function in (CHUNK_WORDS, EXPIRE_MISSION, TICK_DISPATCHES, PUT_ENTRIES, SHRINK_MISSION):
        op.execute(function)
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
