-- Writes new memories in this order, with their words, vectors and events, and returns their ids. `p_memories` is an
-- array of `MemoryRow`, `p_words` of `ChunkWords`. A memory without a vector is queued for one. `p_events` says whether
-- they are commits, which the timeline shows.
create or replace function memory.put_memories(
    p_tenant text, p_memories jsonb, p_words jsonb, p_vectors halfvec[], p_model text, p_events boolean
) returns table (memory_id bigint)
language plpgsql security definer set search_path = pg_catalog, public, memory set plan_cache_mode = force_generic_plan as $$
declare
    v_ids bigint[];
begin
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
