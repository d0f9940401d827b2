-- Writes commits in one round trip if none of them may repeat a memory or a commit before it; returns no row, and has
-- written nothing, otherwise. No two commits have the same agent and fact. Takes the agents' locks first, in the order
-- in which every writer takes them: each statement of a VOLATILE function has a new snapshot, so the second of two equal
-- commits finds the first.
create or replace function memory.commit_new_facts(
    p_tenant text, p_agents text[], p_facts bytea[], p_stated bigint[], p_vectors halfvec[], p_private boolean[],
    p_users text[], p_memories jsonb, p_words jsonb, p_model text, p_distance float8
) returns table (memory_id bigint)
language plpgsql security definer set search_path = pg_catalog, public, memory set plan_cache_mode = force_generic_plan as $$
begin
    perform pg_advisory_xact_lock(hashtextextended(p_tenant || chr(31) || a.agent_name, 3))
    from (select distinct u.name collate "C" as agent_name from unnest(p_agents) u(name) order by 1) a;
    perform from memory.find_same_facts(
        p_tenant, p_agents, p_facts, p_stated, p_vectors, p_private, p_users, p_model, p_distance, 0);
    if not found then
        return query select w.memory_id from memory.put_memories(
            p_tenant, p_memories, p_words, p_vectors, p_model, true) w;
    end if;
end $$;
