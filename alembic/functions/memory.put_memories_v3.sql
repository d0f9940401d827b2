-- Writes new memories in this order, with their words, vectors and events, and returns their ids. `p_memories` is an
-- array of `MemoryRow`, `p_words` of `ChunkWords`. A memory without a vector is queued for one. `p_events` says whether
-- they are commits, which the timeline shows.
create or replace function memory.put_memories(
    p_tenant text, p_memories jsonb, p_words jsonb, p_vectors halfvec[], p_model text, p_events boolean
) returns table (memory_id bigint)
language plpgsql security definer set search_path = pg_catalog, public, memory set plan_cache_mode = force_generic_plan
set enable_seqscan = off as $$
declare
    v_ids bigint[];
    v_scope text;
    v_before text[];
    m memory.agent_memory;
    w record;
begin
    if jsonb_array_length(p_memories) = 1 then
        m := jsonb_populate_record(null::memory.agent_memory, p_memories -> 0);
        v_scope := 'agent:' || m.agent_name;
        insert into memory.agent_memory
            (tenant, id, created_at, updated_at, agent_name, content, content_hash, stated_hash, memory_type,
             task_description, skills_used, outcome, mission_namespace, private, occurred_at, session_id, seq, speaker,
             user_id, language, paths, symbols, step, written_by, source_kind, source_claim, recalled_from,
             dispatch_id, token_count, chunks, pending, access_count, confirmed_count, confirmed_at)
        overriding system value
        values (p_tenant, coalesce(m.id, nextval('memory.agent_memory_id_seq')),
                coalesce(m.created_at, clock_timestamp()), coalesce(m.updated_at, clock_timestamp()), m.agent_name,
                m.content, m.content_hash, m.stated_hash, m.memory_type, m.task_description, m.skills_used, m.outcome,
                m.mission_namespace, m.private, m.occurred_at, m.session_id, m.seq, m.speaker, m.user_id, m.language,
                m.paths, m.symbols, m.step, m.written_by, m.source_kind, m.source_claim, m.recalled_from,
                m.dispatch_id, m.token_count, m.chunks, m.pending, m.access_count, m.confirmed_count, m.confirmed_at)
        returning id into memory_id;
        if p_vectors[1] is not null then
            insert into memory.agent_memory_vec (tenant, scope, item_id, chunk, model, private, large, embedding)
            values (p_tenant, v_scope, memory_id, 0, p_model, m.private,
                    exists (select from memory.large_tenants l where l.tenant = p_tenant), p_vectors[1]);
        else
            insert into memory.index_queue (tenant, store, scope, item_id, model)
            values (p_tenant, 'agent_memory', v_scope, memory_id, p_model)
            on conflict (tenant, store, item_id, model) do update set due_at = excluded.due_at, attempts = 0;
        end if;
        if p_events then
            insert into timeline.events (tenant, scope, kind, mission_id, agent_name, session_id, dispatch_id, payload)
            values (p_tenant, v_scope, 'memory_commit', m.mission_namespace, m.agent_name, m.session_id, m.dispatch_id,
                    jsonb_build_object('id', memory_id, 'memory_type', m.memory_type,
                                       'status', case when m.pending then 'pending' else 'created' end));
        end if;
        select * into w from jsonb_to_record(p_words -> 0) as g(
            keys text[], starts int[], stops int[], chunks text[], configs text[], terms text[], head text,
            bodies text[], first int, before text);
        if w.before is not null then
            v_before := array[w.before];
        elsif m.seq is not null then
            v_before := array(
                select right(t.content, 300) from (
                    select b.content, b.seq, b.id, sum(octet_length(b.content)) over (
                               order by b.seq desc, b.id desc rows between unbounded preceding and 1 preceding) as newer
                    from memory.agent_memory b
                    where b.tenant = p_tenant and b.scope = v_scope and b.session_id = m.session_id and b.seq < m.seq
                      and b.user_id is not distinct from m.user_id and (m.private or not b.private)
                    order by b.seq desc, b.id desc limit 5
                ) t
                where t.newer is null or t.newer < 1200 order by t.seq desc, t.id desc);
        end if;
        insert into memory.agent_memory_chunks
            (tenant, scope, item_id, chunk, chunks, start, stop, words, private, tsv, scoped, body)
        select p_tenant, v_scope, memory_id, c.chunk + coalesce(w.first, 0), m.chunks, c.start, c.stop, c.words,
               m.private, c.tsv, c.scoped, w.bodies[c.chunk + 1]
        from memory.chunk_words(w.keys, w.starts, w.stops, w.chunks, w.configs, w.terms, w.head, v_before) c;
        return next;
        return;
    end if;
    with given as materialized (
        select g.place, g.embedding, 'agent:' || r.agent_name as scope,
               coalesce(r.id, nextval('memory.agent_memory_id_seq')) as id,
               coalesce(r.created_at, clock_timestamp()) as created_at,
               coalesce(r.updated_at, clock_timestamp()) as updated_at,
               r.agent_name, r.content, r.content_hash, r.stated_hash, r.memory_type, r.task_description, r.skills_used,
               r.outcome, r.mission_namespace, r.private, r.occurred_at, r.session_id, r.seq, r.speaker, r.user_id,
               r.language, r.paths, r.symbols, r.step, r.written_by, r.source_kind, r.source_claim, r.recalled_from,
               r.dispatch_id, r.token_count, r.chunks, r.pending, r.access_count, r.confirmed_count, r.confirmed_at
        from rows from (jsonb_array_elements(p_memories), unnest(p_vectors)) with ordinality
            g(body, embedding, place)
        cross join lateral jsonb_populate_record(null::memory.agent_memory, g.body) r
    ), written as (
        insert into memory.agent_memory
            (tenant, id, created_at, updated_at, agent_name, content, content_hash, stated_hash, memory_type,
             task_description, skills_used, outcome, mission_namespace, private, occurred_at, session_id, seq, speaker,
             user_id, language, paths, symbols, step, written_by, source_kind, source_claim, recalled_from,
             dispatch_id, token_count, chunks, pending, access_count, confirmed_count, confirmed_at)
        overriding system value
        select p_tenant, id, created_at, updated_at, agent_name, content, content_hash, stated_hash, memory_type,
               task_description, skills_used, outcome, mission_namespace, private, occurred_at, session_id, seq, speaker,
               user_id, language, paths, symbols, step, written_by, source_kind, source_claim, recalled_from,
               dispatch_id, token_count, chunks, pending, access_count, confirmed_count, confirmed_at
        from given order by place
    ), vec as (
        insert into memory.agent_memory_vec (tenant, scope, item_id, chunk, model, private, large, embedding)
        select p_tenant, scope, id, 0, p_model, private,
               exists (select from memory.large_tenants l where l.tenant = p_tenant), embedding
        from given where embedding is not null
    ), queued as (
        insert into memory.index_queue (tenant, store, scope, item_id, model)
        select p_tenant, 'agent_memory', scope, id, p_model from given where embedding is null
        on conflict (tenant, store, item_id, model) do update set due_at = excluded.due_at, attempts = 0
    ), told as (
        insert into timeline.events (tenant, scope, kind, mission_id, agent_name, session_id, dispatch_id, payload)
        select p_tenant, scope, 'memory_commit', mission_namespace, agent_name, session_id, dispatch_id,
               jsonb_build_object('id', id, 'memory_type', memory_type,
                                  'status', case when pending then 'pending' else 'created' end)
        from given where p_events order by place
    )
    select array_agg(id order by place) into v_ids from given;
    perform memory.put_chunks(p_tenant, v_ids, p_words);
    return query select unnest(v_ids);
end $$;
