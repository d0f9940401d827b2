-- Writes the entries of one mission in one round trip, with the outcome of writing them one after the other, exact
-- under concurrency: a VOLATILE function takes a new snapshot for each statement after the mission's row is locked,
-- which a single CTE statement would not. `p_entries` is an array of objects, `p_tokens` their sizes. Returns a row for
-- each entry, in order; `refused` is 'larger' (than the whole budget) or 'checkpoints' (only protected entries are left
-- to evict), and a refused entry leaves no trace. The newest checkpoint of a session is each agent's own. An entry of a
-- key with bounds ticks only a dispatch of the key's agent (`bound_agent`) and missions (`bound_missions`). A turn's
-- context is the turns before it: as many as fill 300 characters, of which one takes four bytes at most. Every statement has one sensible plan, and planning it anew for each call would cost more than running it. For one entry,
-- small statements cost less than a few that take the array apart again; for several entries, making all their chunks
-- at once is what pays.
create or replace function cache.put_entries(
    p_tenant text, p_mission text, p_entries jsonb, p_tokens int[], p_key text, p_model text,
    p_token_budget int, p_entry_budget int, p_default_ttl_hours float8
) returns table (
    entry_id bigint, total_tokens int, evicted int, expires_at timestamptz, refused text, token_budget int
)
language plpgsql security definer set search_path = pg_catalog, public, cache set plan_cache_mode = force_generic_plan as $$
declare
    m cache.missions;
    e record;
    v_scope text := 'mission:' || p_mission;
    v_new boolean := false;
    v_now timestamptz;
    v_next_expiry timestamptz := 'infinity';
    v_victims bigint[] := '{}';
    v_mark int;
    v_after bigint;
    v_from bigint;
    v_freed int;
    v_tokens int;
    v_entries int;
    v_before text[];
    v_written int := 0;
    v_evicted int := 0;
    v_single boolean := cardinality(p_tokens) = 1;
    v_by_place bigint[];
    v_befores jsonb[];
    v_expiries timestamptz[];
    v_of_dispatches bigint[];
    v_dispatches bigint[];
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
    v_tokens := m.tokens;
    v_entries := m.entries;
    v_after := m.evicted_up_to;

    for e in
        select t.*, p_tokens[t.place] as tokens
        from rows from (jsonb_to_recordset(p_entries) as (
            context_type text, content text, metadata jsonb, agent_name text, tags text[], paths text[],
            symbols text[], step text, source_turn int,
            dispatch_id bigint, occurred_at timestamptz, session_id text, seq bigint, speaker text, user_id text,
            written_by text, source_kind text, source_claim text, recalled_from bigint, ttl_hours float8,
            bound_agent text, bound_missions text[],
            head text, starts int[], stops int[], chunks text[], configs text[], terms text[]
        )) with ordinality t(
            context_type, content, metadata, agent_name, tags, paths, symbols, step, source_turn, dispatch_id,
            occurred_at, session_id, seq, speaker, user_id, written_by, source_kind, source_claim, recalled_from,
            ttl_hours, bound_agent, bound_missions, head, starts, stops, chunks, configs, terms, place)
    loop
        entry_id := null;
        evicted := 0;
        expires_at := null;
        refused := null;
        total_tokens := v_tokens;
        if e.tokens > token_budget then
            refused := 'larger';
            return next;
            continue;
        end if;
        if e.context_type = 'thread_checkpoint' then
            v_after := 0;  -- an older one of its agent and session may go now
        end if;
        v_mark := cardinality(v_victims);
        v_from := v_after;
        while v_tokens + e.tokens > token_budget or v_entries - evicted >= p_entry_budget loop
            select c.id, c.token_count into v_after, v_freed from cache.psychic_cache c
            where c.tenant = p_tenant and c.mission_id = p_mission and c.id > v_after and c.id <> all (v_victims)
              and (c.context_type <> 'thread_checkpoint'
                   or e.context_type = 'thread_checkpoint' and e.session_id = c.session_id
                      and e.agent_name is not distinct from c.agent_name
                   or exists (
                       select 1 from cache.psychic_cache newer
                       where newer.tenant = p_tenant and newer.mission_id = p_mission
                         and newer.context_type = 'thread_checkpoint' and newer.session_id = c.session_id
                         and newer.agent_name is not distinct from c.agent_name and newer.id > c.id))
            order by c.id limit 1;
            if not found then
                refused := 'checkpoints';
                exit;
            end if;
            v_victims := v_victims || v_after;
            v_tokens := v_tokens - v_freed;
            evicted := evicted + 1;
        end loop;
        if refused is not null then
            v_tokens := total_tokens;
            v_victims := v_victims[1:v_mark];
            v_after := v_from;
            evicted := 0;
            return next;
            continue;
        end if;

        expires_at := v_now + coalesce(e.ttl_hours, m.ttl_hours, p_default_ttl_hours) * interval '1 hour';
        insert into cache.psychic_cache (
            tenant, mission_id, context_type, content, metadata, agent_name, tags, paths, symbols, step, source_turn,
            dispatch_id, token_count, occurred_at, session_id, seq, speaker, user_id, written_by, source_kind,
            source_claim, recalled_from, created_at, expires_at)
        values (
            p_tenant, p_mission, e.context_type, e.content, e.metadata, e.agent_name, e.tags,
            coalesce(e.paths, '{}'), coalesce(e.symbols, '{}'), e.step, e.source_turn, e.dispatch_id, e.tokens,
            e.occurred_at, e.session_id, e.seq, e.speaker, e.user_id, e.written_by, e.source_kind,
            e.source_claim, e.recalled_from, v_now, expires_at)
        returning id into entry_id;
        v_before := null;
        if e.seq is not null then
            v_before := array(
                select right(t.content, 300) from (
                    select c.content, c.seq, sum(octet_length(c.content)) over (
                               order by c.seq desc rows between unbounded preceding and 1 preceding) as newer
                    from cache.psychic_cache c
                    where c.tenant = p_tenant and c.scope = v_scope and c.session_id = e.session_id and c.seq < e.seq
                      and c.user_id is not distinct from e.user_id
                    order by c.seq desc limit 5
                ) t
                where t.newer is null or t.newer < 1200 order by t.seq desc);
        end if;
        if v_single then
            insert into cache.psychic_chunks
                (tenant, scope, item_id, chunk, chunks, start, stop, words, expires_at, tsv, scoped)
            select p_tenant, v_scope, entry_id, w.chunk, cardinality(e.chunks), w.start, w.stop, w.words, expires_at,
                   w.tsv, w.scoped
            from cache.chunk_words(
                array[p_key], e.starts, e.stops, e.chunks, e.configs, e.terms, e.head, v_before) w;
            insert into cache.index_queue (tenant, store, item_id, scope, model)
            values (p_tenant, 'psychic_cache', entry_id, v_scope, p_model);
        else
            v_by_place[e.place] := entry_id;
            v_befores[e.place] := to_jsonb(v_before);
            v_expiries[e.place] := expires_at;
        end if;
        insert into timeline.events (tenant, scope, kind, mission_id, agent_name, session_id, dispatch_id, payload)
        values (p_tenant, v_scope, 'cache_write', p_mission, e.agent_name, e.session_id, e.dispatch_id,
                jsonb_build_object('id', entry_id, 'context_type', e.context_type, 'token_count', e.tokens,
                                   'evicted_count', evicted));
        v_tokens := v_tokens + e.tokens;
        v_entries := v_entries - evicted + 1;
        total_tokens := v_tokens;
        v_written := v_written + 1;
        v_evicted := v_evicted + evicted;
        v_next_expiry := least(v_next_expiry, expires_at);
        if e.dispatch_id is not null and (
            e.bound_agent is null and e.bound_missions is null
            or exists (
                select 1 from cache.agent_dispatch d
                where d.tenant = p_tenant and d.id = e.dispatch_id
                  and (e.bound_agent is null or d.agent_name = e.bound_agent)
                  and (e.bound_missions is null or d.mission_id = any (e.bound_missions))))
        then
            v_of_dispatches := v_of_dispatches || entry_id;
            v_dispatches := v_dispatches || e.dispatch_id;
        end if;
        return next;
    end loop;
    if v_written = 0 then
        if v_new then
            delete from cache.missions c where c.tenant = p_tenant and c.mission_id = p_mission;
        end if;
        return;
    end if;
    if v_dispatches is not null then
        perform cache.tick_dispatches(p_tenant, p_mission, v_of_dispatches, v_dispatches);
    end if;
    if not v_single then
        insert into cache.psychic_chunks
            (tenant, scope, item_id, chunk, chunks, start, stop, words, expires_at, tsv, scoped)
        select p_tenant, v_scope, v_by_place[g.place], w.chunk, cardinality(g.chunks), w.start, w.stop, w.words,
               v_expiries[g.place], w.tsv, w.scoped
        from rows from (jsonb_to_recordset(p_entries) as (
                head text, starts int[], stops int[], chunks text[], configs text[], terms text[]))
            with ordinality g(head, starts, stops, chunks, configs, terms, place)
        cross join lateral cache.chunk_words(
            array[p_key], g.starts, g.stops, g.chunks, g.configs, g.terms, g.head,
            array(select jsonb_array_elements_text(v_befores[g.place]))) w
        where v_by_place[g.place] is not null and v_by_place[g.place] <> all (v_victims);
        insert into cache.index_queue (tenant, store, item_id, scope, model)
        select p_tenant, 'psychic_cache', id, v_scope, p_model from unnest(v_by_place) id
        where id is not null and id <> all (v_victims);
    end if;
    if v_evicted > 0 then
        delete from cache.psychic_cache c where c.tenant = p_tenant and c.id = any (v_victims);
        delete from cache.index_queue q
        where q.tenant = p_tenant and q.store = 'psychic_cache' and q.item_id = any (v_victims);
    end if;
    update cache.missions c set
        tokens = v_tokens,
        entries = v_entries,
        written_count = c.written_count + v_written,
        evicted_count = c.evicted_count + v_evicted,
        evicted_up_to = v_after,
        next_expiry = least(c.next_expiry, v_next_expiry),
        last_write_at = v_now
    where c.tenant = p_tenant and c.mission_id = p_mission;
end $$
