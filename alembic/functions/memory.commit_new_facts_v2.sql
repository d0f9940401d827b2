-- Writes commits in one round trip if none of them may repeat a memory or a commit before it; returns no row, and has
-- written nothing, otherwise. No two commits have the same agent and fact. Takes the agents' locks first, in the order
-- in which every writer takes them: each statement of a VOLATILE function has a new snapshot, so the second of two equal
-- commits finds the first. One commit may repeat only what has its fact, or states the same, or is from a time without
-- `stated_hash`; to look for these costs less than to search. The setting holds the planner to their indexes.
create or replace function memory.commit_new_facts(
    p_tenant text, p_agents text[], p_facts bytea[], p_stated bigint[], p_vectors halfvec[], p_private boolean[],
    p_users text[], p_memories jsonb, p_words jsonb, p_model text, p_distance float8
) returns table (memory_id bigint)
language plpgsql security definer set search_path = pg_catalog, public, memory set plan_cache_mode = force_generic_plan
set enable_seqscan = off as $$
begin
    perform pg_advisory_xact_lock(hashtextextended(p_tenant || chr(31) || a.agent_name, 3))
    from (select distinct u.name collate "C" as agent_name from unnest(p_agents) u(name) order by 1) a;
    if cardinality(p_agents) > 1 or exists (
        select from memory.agent_memory m
        where m.tenant = p_tenant and m.agent_name = p_agents[1] and m.content_hash = p_facts[1]
    ) or exists (
        select from memory.agent_memory m
        where m.tenant = p_tenant and m.agent_name = p_agents[1] and m.stated_hash = p_stated[1] and m.chunks = 1
    ) or exists (
        select from memory.agent_memory m
        where m.tenant = p_tenant and m.agent_name = p_agents[1] and m.stated_hash is null and m.chunks = 1
    ) then
        perform from memory.find_same_facts(
            p_tenant, p_agents, p_facts, p_stated, p_vectors, p_private, p_users, p_model, p_distance, 0);
        if found then
            return;
        end if;
    end if;
    return query select w.memory_id from memory.put_memories(
        p_tenant, p_memories, p_words, p_vectors, p_model, true) w;
end $$;
