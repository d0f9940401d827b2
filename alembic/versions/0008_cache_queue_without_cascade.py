"""cache: entries know their user, and a write does less for the queue of the indexer"""

import runpy
from pathlib import Path

from alembic import op

from shared.schema import statements

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None

# Checked for each write and cascaded for each eviction, the foreign key was a fortieth of a write. Whoever deletes
# entries deletes what waits for them, after the entries: the indexer locks in that order, and drops what code from
# before this leaves behind.
UP = """
-- squawk-ignore ban-drop-constraint
alter table cache.index_queue drop constraint index_queue_tenant_item_id_fkey;
alter table cache.psychic_cache add column user_id text;
"""
DOWN = """
delete from cache.index_queue q where not exists (
    select from cache.psychic_cache e where e.tenant = q.tenant and e.id = q.item_id);
alter table cache.index_queue add constraint index_queue_tenant_item_id_fkey
    foreign key (tenant, item_id) references cache.psychic_cache (tenant, id) on delete cascade;
alter table cache.psychic_cache drop column user_id;
"""

# One mission's writes in one round trip, with the outcome of writing them one after the other, exact under
# concurrency: a VOLATILE function takes a new snapshot for each statement after the mission's row is locked, which
# a single CTE statement would not. `p_entries` is an array of objects, `p_tokens` their sizes. A row for each in
# its order; `refused` is 'larger' (than the whole budget) or 'checkpoints' (only protected ones are left to evict),
# and leaves no trace. Every statement has one sensible plan: planning it anew for each call would cost more than it.
# What a function or an insert returns comes in the order of the array.
PUT_ENTRIES = """
create or replace function cache.put_entries(
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
    v_in_session boolean;
    v_before text[];
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
            token_count, occurred_at, session_id, seq, speaker, user_id, written_by, source_kind, recalled_from,
            created_at, expires_at)
        select p_tenant, p_mission, e.context_type, e.content, e.metadata, e.agent_name, e.tags, e.source_turn,
               e.dispatch_id, p_tokens[e.place], e.occurred_at, e.session_id, e.seq, e.speaker, e.user_id,
               e.written_by, e.source_kind, e.recalled_from, v_now,
               v_now + coalesce(e.ttl_hours, m.ttl_hours, p_default_ttl_hours) * interval '1 hour'
        from rows from (jsonb_to_recordset(p_entries) as (
            context_type text, content text, metadata jsonb, agent_name text, tags text[], source_turn int,
            dispatch_id bigint, occurred_at timestamptz, session_id text, seq bigint, speaker text,
            user_id text, written_by text, source_kind text, recalled_from bigint, ttl_hours float8
        )) with ordinality e(
            context_type, content, metadata, agent_name, tags, source_turn, dispatch_id, occurred_at, session_id,
            seq, speaker, user_id, written_by, source_kind, recalled_from, ttl_hours, place)
        where p_tokens[e.place] <= put_entries.token_budget
        returning id, context_type, dispatch_id, session_id, seq, expires_at
    )
    select array_agg(i.id), array_agg(i.context_type = 'thread_checkpoint'),
           array_agg(i.dispatch_id) filter (where i.dispatch_id is not null), min(i.expires_at),
           bool_or(i.session_id is not null and i.seq is not null)
    into v_ids, v_checkpoints, v_dispatches, v_expires, v_in_session
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
                select array_agg(o.id), array_agg(o.token_count), 1
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

    if v_in_session then
        select array_agg((
            select b.content from cache.psychic_cache b
            where b.tenant = p_tenant and b.scope = v_scope and b.session_id = e.session_id and b.seq < e.seq
            order by b.seq desc limit 1))
        into v_before
        from jsonb_to_recordset(p_entries) e(session_id text, seq bigint);
    end if;
    -- By their places, without a join: a plan must not depend on how much the tenant holds.
    with given as materialized (
        select v_by_place[e.place] as id, e.*, v_evictions[e.place] as evictions, p_tokens[e.place] as token_count
        from rows from (jsonb_to_recordset(p_entries) as (
            context_type text, agent_name text, session_id text, dispatch_id bigint, ttl_hours float8,
            head text, starts int[], stops int[], chunks text[]
        )) with ordinality e(
            context_type, agent_name, session_id, dispatch_id, ttl_hours, head, starts, stops, chunks, place)
        where v_by_place[e.place] is not null
    ), chunked as (
        insert into cache.psychic_chunks
            (tenant, scope, item_id, chunk, chunks, start, stop, words, expires_at, tsv, scoped)
        select p_tenant, v_scope, g.id, w.chunk, cardinality(g.chunks), w.start, w.stop, w.words,
               v_now + coalesce(g.ttl_hours, m.ttl_hours, p_default_ttl_hours) * interval '1 hour', w.tsv, w.scoped
        from given g
        cross join lateral cache.chunk_words(
            array[p_key], g.starts, g.stops, g.chunks, g.head, v_before[g.place]) w
        where g.id <> all (v_victims)
    ), queued as (
        insert into cache.index_queue (tenant, item_id, scope, model)
        select p_tenant, g.id, v_scope, p_model from given g where g.id <> all (v_victims)
    )
    insert into timeline.events (tenant, scope, kind, mission_id, agent_name, session_id, dispatch_id, payload)
    select p_tenant, v_scope, 'cache_write', p_mission, g.agent_name, g.session_id, g.dispatch_id,
           jsonb_build_object('id', g.id, 'context_type', g.context_type, 'token_count', g.token_count,
                              'evicted_count', g.evictions)
    from given g;
    if v_dispatches is not null then
        perform cache.tick_dispatches(p_tenant, p_mission, v_by_place, v_dispatches);
    end if;
    if v_victims <> '{}' then
        delete from cache.psychic_cache e where e.tenant = p_tenant and e.id = any (v_victims);
        delete from cache.index_queue q where q.tenant = p_tenant and q.item_id = any (v_victims);
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

# After a budget was lowered: the oldest go until what is left fits; the newest checkpoints stay in any case.
SHRINK_MISSION = """
create or replace function cache.shrink_mission(p_tenant text, p_mission text, p_token_budget int, p_entry_budget int)
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
        returning e.id, e.token_count
    ), unqueued as (
        delete from cache.index_queue q using gone where q.tenant = p_tenant and q.item_id = gone.id
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
create or replace function cache.expire_mission(p_tenant text, p_mission text, p_now timestamptz) returns cache.missions
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
        returning id, token_count
    ), unqueued as (
        delete from cache.index_queue q using gone where q.tenant = p_tenant and q.item_id = gone.id
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

FUNCTIONS = {"PUT_ENTRIES": PUT_ENTRIES, "SHRINK_MISSION": SHRINK_MISSION, "EXPIRE_MISSION": EXPIRE_MISSION}


def upgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    op.execute("set local statement_timeout = '60s'")
    for statement in statements(UP):
        op.execute(statement)
    for function in FUNCTIONS.values():
        op.execute(function)


def downgrade() -> None:
    op.execute("set local lock_timeout = '2s'")
    earlier, replaced = (
        runpy.run_path(str(Path(__file__).with_name(name)))
        for name in ("0002_cache_create_missions.py", "0006_cache_replace_put_entries.py")
    )
    for name in FUNCTIONS:
        function = earlier[name].replace("create function", "create or replace function", 1)
        op.execute(function.replace(replaced["BEFORE"], replaced["AFTER"]))
    for statement in statements(DOWN):
        op.execute(statement)
