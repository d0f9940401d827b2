-- Writes the entries of one mission in one round trip, with the outcome of writing them one after the other, exact
-- under concurrency: a VOLATILE function takes a new snapshot for each statement after the mission's row is locked,
-- which a single CTE statement would not. `p_entries` is an array of objects, `p_tokens` their sizes. Returns a row for
-- each entry, in order; `refused` is 'larger' (than the whole budget) or 'checkpoints' (only protected entries are left
-- to evict), and a refused entry leaves no trace. The newest checkpoint of a session is each agent's own. An entry of a
-- key with bounds ticks only a dispatch of the key's agent (`bound_agent`) and missions (`bound_missions`). A turn's
-- context is the turns before it: as many as fill 300 characters, of which one takes four bytes at most. Every statement
-- has one sensible plan, and planning it anew for each call would cost more than running it. For one entry, small
-- statements cost less than a few that take the array apart again. Several are written together, by a statement for each
-- table, unless there is a checkpoint among them or one would evict another: those are written one by one.
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
    v_next_expiry timestamptz;
    v_victims bigint[] := '{}';
    v_victim bigint;
    v_freed int;
    v_after bigint;
    v_tokens int;
    v_entries int;
    v_before text[];
    v_written int := 0;
    v_together boolean;
    -- By place among those given: the place among those written, and what is told.
    v_nth int[];
    v_totals int[];
    v_evicted int[];
    -- By place among those written.
    v_ids bigint[];
    v_expiries timestamptz[];
    v_places int[];
    v_of_dispatches bigint[];
    v_dispatches bigint[];
    v_oldest cursor for
        select c.id, c.token_count from cache.psychic_cache c
        where c.tenant = p_tenant and c.mission_id = p_mission and c.id > m.evicted_up_to
          and (c.context_type <> 'thread_checkpoint'
               or exists (
                   select 1 from cache.psychic_cache newer
                   where newer.tenant = p_tenant and newer.mission_id = p_mission
                     and newer.context_type = 'thread_checkpoint' and newer.session_id = c.session_id
                     and newer.agent_name is not distinct from c.agent_name and newer.id > c.id))
        order by c.id;
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

    if cardinality(p_tokens) > 1 then
        select array_agg(t.place), array_agg(t.dispatch_id) into v_places, v_dispatches
        from rows from (jsonb_to_recordset(p_entries) as (
                dispatch_id bigint, bound_agent text, bound_missions text[]
            )) with ordinality t(dispatch_id, bound_agent, bound_missions, place)
        where t.dispatch_id is not null and (
            t.bound_agent is null and t.bound_missions is null
            or exists (
                select 1 from cache.agent_dispatch d
                where d.tenant = p_tenant and d.id = t.dispatch_id
                  and (t.bound_agent is null or d.agent_name = t.bound_agent)
                  and (t.bound_missions is null or d.mission_id = any (t.bound_missions))));
        v_together := not jsonb_path_exists(p_entries, '$[*] ? (@.context_type == "thread_checkpoint")');
        if v_together then
            open v_oldest;
            <<deciding>>
            for v_place in 1..cardinality(p_tokens) loop
                v_evicted[v_place] := 0;
                v_totals[v_place] := v_tokens;
                continue when p_tokens[v_place] > token_budget;
                while v_tokens + p_tokens[v_place] > token_budget or v_entries >= p_entry_budget loop
                    fetch v_oldest into v_victim, v_freed;
                    if not found then
                        v_together := false;
                        exit deciding;
                    end if;
                    v_after := v_victim;
                    v_victims := v_victims || v_victim;
                    v_tokens := v_tokens - v_freed;
                    v_entries := v_entries - 1;
                    v_evicted[v_place] := v_evicted[v_place] + 1;
                end loop;
                v_tokens := v_tokens + p_tokens[v_place];
                v_entries := v_entries + 1;
                v_totals[v_place] := v_tokens;
                v_written := v_written + 1;
                v_nth[v_place] := v_written;
            end loop;
            close v_oldest;
        end if;
        if not v_together or v_written = 0 then
            if v_new then
                delete from cache.missions c where c.tenant = p_tenant and c.mission_id = p_mission;
            end if;
            -- All in the order of their ids, before one entry ticks some and the next others.
            perform 1 from cache.agent_dispatch d
            where d.tenant = p_tenant and d.id = any (v_dispatches) order by d.id for no key update;
            for v_place in 1..cardinality(p_tokens) loop
                return query select put.* from cache.put_entries(
                    p_tenant, p_mission, jsonb_build_array(p_entries -> (v_place - 1)), p_tokens[v_place:v_place],
                    p_key, p_model, p_token_budget, p_entry_budget, p_default_ttl_hours) put;
            end loop;
            return;
        end if;

        with written as (
            insert into cache.psychic_cache (
                tenant, mission_id, context_type, content, metadata, agent_name, tags, paths, symbols, step,
                source_turn, dispatch_id, token_count, occurred_at, session_id, seq, speaker, user_id, written_by,
                source_kind, source_claim, recalled_from, created_at, expires_at)
            select p_tenant, p_mission, t.context_type, t.content, t.metadata, t.agent_name, t.tags,
                   coalesce(t.paths, '{}'), coalesce(t.symbols, '{}'), t.step, t.source_turn, t.dispatch_id,
                   p_tokens[t.place], t.occurred_at, t.session_id, t.seq, t.speaker, t.user_id, t.written_by,
                   t.source_kind, t.source_claim, t.recalled_from, v_now,
                   v_now + coalesce(t.ttl_hours, m.ttl_hours, p_default_ttl_hours) * interval '1 hour'
            from rows from (jsonb_to_recordset(p_entries) as (
                context_type text, content text, metadata jsonb, agent_name text, tags text[], paths text[],
                symbols text[], step text, source_turn int, dispatch_id bigint, occurred_at timestamptz,
                session_id text, seq bigint, speaker text, user_id text, written_by text, source_kind text,
                source_claim text, recalled_from bigint, ttl_hours float8
            )) with ordinality t(
                context_type, content, metadata, agent_name, tags, paths, symbols, step, source_turn, dispatch_id,
                occurred_at, session_id, seq, speaker, user_id, written_by, source_kind, source_claim, recalled_from,
                ttl_hours, place)
            where v_nth[t.place] is not null
            order by t.place
            returning psychic_cache.id, psychic_cache.expires_at
        )
        select array_agg(w.id order by w.id), array_agg(w.expires_at order by w.id), min(w.expires_at)
        into v_ids, v_expiries, v_next_expiry from written w;
        insert into cache.psychic_chunks
            (tenant, scope, item_id, chunk, chunks, start, stop, words, expires_at, tsv, scoped)
        select p_tenant, v_scope, v_ids[v_nth[t.place]], w.chunk, cardinality(t.chunks), w.start, w.stop, w.words,
               v_expiries[v_nth[t.place]], w.tsv, w.scoped
        from rows from (jsonb_to_recordset(p_entries) as (
                session_id text, seq bigint, user_id text, head text, starts int[], stops int[], chunks text[],
                configs text[], terms text[]
            )) with ordinality t(session_id, seq, user_id, head, starts, stops, chunks, configs, terms, place)
        -- A function is not a part of the statement if an argument is a query.
        cross join lateral (
            select case when t.seq is not null then array(
                select right(b.content, 300) from (
                    select c.content, c.seq, sum(octet_length(c.content)) over (
                               order by c.seq desc rows between unbounded preceding and 1 preceding) as newer
                    from cache.psychic_cache c
                    where c.tenant = p_tenant and c.scope = v_scope and c.session_id = t.session_id and c.seq < t.seq
                      and c.user_id is not distinct from t.user_id and c.id < v_ids[v_nth[t.place]]
                    order by c.seq desc limit 5
                ) b
                where b.newer is null or b.newer < 1200 order by b.seq desc) end as before
            offset 0
        ) turns
        cross join lateral cache.chunk_words(
            array[p_key], t.starts, t.stops, t.chunks, t.configs, t.terms, t.head, turns.before) w
        where v_nth[t.place] is not null;
        insert into cache.index_queue (tenant, store, item_id, scope, model)
        select p_tenant, 'psychic_cache', id, v_scope, p_model from unnest(v_ids) id;
        insert into timeline.events (tenant, scope, kind, mission_id, agent_name, session_id, dispatch_id, payload)
        select p_tenant, v_scope, 'cache_write', p_mission, t.agent_name, t.session_id, t.dispatch_id,
               jsonb_build_object('id', v_ids[v_nth[t.place]], 'context_type', t.context_type,
                                  'token_count', p_tokens[t.place], 'evicted_count', v_evicted[t.place])
        from rows from (jsonb_to_recordset(p_entries) as (
                context_type text, agent_name text, session_id text, dispatch_id bigint
            )) with ordinality t(context_type, agent_name, session_id, dispatch_id, place)
        where v_nth[t.place] is not null
        order by t.place;
        select array_agg(v_ids[v_nth[u.place]]), array_agg(u.dispatch) into v_of_dispatches, v_dispatches
        from unnest(v_places, v_dispatches) u(place, dispatch) where v_nth[u.place] is not null;
        return query
        select v_ids[v_nth[place]], v_totals[place], v_evicted[place], v_expiries[v_nth[place]],
               case when v_nth[place] is null then 'larger' end, token_budget
        from generate_series(1, cardinality(p_tokens)) place order by place;
    else
        select * into e from jsonb_to_recordset(p_entries) as t(
            context_type text, content text, metadata jsonb, agent_name text, tags text[], paths text[],
            symbols text[], step text, source_turn int, dispatch_id bigint, occurred_at timestamptz, session_id text,
            seq bigint, speaker text, user_id text, written_by text, source_kind text, source_claim text,
            recalled_from bigint, ttl_hours float8, bound_agent text, bound_missions text[],
            head text, starts int[], stops int[], chunks text[], configs text[], terms text[]);
        if p_tokens[1] > token_budget then
            refused := 'larger';
        else
            if e.context_type = 'thread_checkpoint' then
                v_after := 0;  -- an older one of its agent and session may go now
            end if;
            while v_tokens + p_tokens[1] > token_budget or v_entries >= p_entry_budget loop
                select c.id, c.token_count into v_victim, v_freed from cache.psychic_cache c
                where c.tenant = p_tenant and c.mission_id = p_mission and c.id > v_after
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
                v_after := v_victim;
                v_victims := v_victims || v_victim;
                v_tokens := v_tokens - v_freed;
                v_entries := v_entries - 1;
            end loop;
        end if;
        if refused is not null then
            if v_new then
                delete from cache.missions c where c.tenant = p_tenant and c.mission_id = p_mission;
            end if;
            total_tokens := m.tokens;
            evicted := 0;
            return next;
            return;
        end if;
        v_tokens := v_tokens + p_tokens[1];
        v_entries := v_entries + 1;
        v_written := 1;
        total_tokens := v_tokens;
        evicted := cardinality(v_victims);
        expires_at := v_now + coalesce(e.ttl_hours, m.ttl_hours, p_default_ttl_hours) * interval '1 hour';
        v_next_expiry := expires_at;

        insert into cache.psychic_cache (
            tenant, mission_id, context_type, content, metadata, agent_name, tags, paths, symbols, step, source_turn,
            dispatch_id, token_count, occurred_at, session_id, seq, speaker, user_id, written_by, source_kind,
            source_claim, recalled_from, created_at, expires_at)
        values (
            p_tenant, p_mission, e.context_type, e.content, e.metadata, e.agent_name, e.tags,
            coalesce(e.paths, '{}'), coalesce(e.symbols, '{}'), e.step, e.source_turn, e.dispatch_id, p_tokens[1],
            e.occurred_at, e.session_id, e.seq, e.speaker, e.user_id, e.written_by, e.source_kind,
            e.source_claim, e.recalled_from, v_now, expires_at)
        returning id into entry_id;
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
        insert into cache.psychic_chunks
            (tenant, scope, item_id, chunk, chunks, start, stop, words, expires_at, tsv, scoped)
        select p_tenant, v_scope, entry_id, w.chunk, cardinality(e.chunks), w.start, w.stop, w.words, expires_at,
               w.tsv, w.scoped
        from cache.chunk_words(array[p_key], e.starts, e.stops, e.chunks, e.configs, e.terms, e.head, v_before) w;
        insert into cache.index_queue (tenant, store, item_id, scope, model)
        values (p_tenant, 'psychic_cache', entry_id, v_scope, p_model);
        insert into timeline.events (tenant, scope, kind, mission_id, agent_name, session_id, dispatch_id, payload)
        values (p_tenant, v_scope, 'cache_write', p_mission, e.agent_name, e.session_id, e.dispatch_id,
                jsonb_build_object('id', entry_id, 'context_type', e.context_type, 'token_count', p_tokens[1],
                                   'evicted_count', evicted));
        if e.dispatch_id is not null and (
            e.bound_agent is null and e.bound_missions is null
            or exists (
                select 1 from cache.agent_dispatch d
                where d.tenant = p_tenant and d.id = e.dispatch_id
                  and (e.bound_agent is null or d.agent_name = e.bound_agent)
                  and (e.bound_missions is null or d.mission_id = any (e.bound_missions))))
        then
            v_of_dispatches := array[entry_id];
            v_dispatches := array[e.dispatch_id];
        end if;
        return next;
    end if;

    if v_dispatches is not null then
        perform cache.tick_dispatches(p_tenant, p_mission, v_of_dispatches, v_dispatches);
    end if;
    if v_victims <> '{}' then
        delete from cache.psychic_cache c where c.tenant = p_tenant and c.id = any (v_victims);
        delete from cache.index_queue q
        where q.tenant = p_tenant and q.store = 'psychic_cache' and q.item_id = any (v_victims);
    end if;
    update cache.missions c set
        tokens = v_tokens,
        entries = v_entries,
        written_count = c.written_count + v_written,
        evicted_count = c.evicted_count + cardinality(v_victims),
        evicted_up_to = v_after,
        next_expiry = least(c.next_expiry, v_next_expiry),
        last_write_at = v_now
    where c.tenant = p_tenant and c.mission_id = p_mission;
end $$
