-- What commits may repeat, by the place of each from 1 on. A row is a memory with the same fact (without a distance), a
-- near memory that may state the same, or `earlier`: the place of such a commit before it. The nearest come first,
-- stored memories before commits. `p_facts` are content hashes; only near memories count as repeats of a commit without
-- one. `p_stated` are equal for all texts that may state the same. `p_itself` is the memory that is near itself. What is
-- near is looked up by its key: see `memory.find_repeats`, which compares all vectors of an agent. It still has to where
-- one of the agent's memories is from a time without `stated_hash`.
create or replace function memory.find_same_facts(
    p_tenant text, p_agents text[], p_facts bytea[], p_stated bigint[], p_vectors halfvec[], p_private boolean[],
    p_users text[], p_model text, p_distance float8, p_itself bigint
) returns table (
    place bigint, id bigint, earlier bigint, content text, written_by text, mission_namespace text, distance float8
)
language plpgsql stable security definer set search_path = pg_catalog, public, memory set plan_cache_mode = force_generic_plan
set enable_seqscan = off as $$
#variable_conflict use_column
begin
    if exists (
        select from memory.agent_memory m
        where m.tenant = p_tenant and m.agent_name = any(p_agents) and m.stated_hash is null and m.chunks = 1
    ) then
        return query select * from memory.find_repeats(
            p_tenant, p_agents, p_facts, p_vectors, p_private, p_users, p_model, p_distance, p_itself);
        return;
    end if;
    return query
    with given as (
        select * from unnest(p_agents, p_facts, p_stated, p_vectors, p_private, p_users) with ordinality
            g(agent_name, content_hash, stated_hash, embedding, private, user_id, place)
    ), known as (
        select f.place, f.id
        from (
            select g.place, (
                select m.id from memory.agent_memory m
                where m.tenant = p_tenant and m.agent_name = g.agent_name and m.content_hash = g.content_hash
            ) as id
            from given g
        ) f
        where f.id is not null
    ), asked as (
        select * from given g
        where g.embedding is not null and not exists (select from known k where k.place = g.place)
    )
    select k.place, k.id, null::bigint as earlier, null::text, null::text, null::text, null::float8 as distance
    from known k
    union all
    select a.place, near.id, null, near.content, near.written_by, near.mission_namespace, near.distance
    from asked a
    cross join lateral (
        select m.id, m.content, m.written_by, m.mission_namespace, (v.embedding <=> a.embedding) + 0.0 as distance
        from memory.agent_memory m
        cross join lateral (
            select k.embedding from memory.agent_memory_vec k
            where k.tenant = p_tenant and k.item_id = m.id and k.chunk = 0 and k.model is not distinct from p_model
            offset 0
        ) v
        where m.tenant = p_tenant and m.agent_name = a.agent_name and m.stated_hash = a.stated_hash and m.chunks = 1
          and m.private = a.private and m.user_id is not distinct from a.user_id and m.id <> p_itself
          and v.embedding <=> a.embedding < p_distance
        order by distance, m.id limit 50
    ) near
    union all
    select a.place, null, b.place, null, null, null, a.embedding <=> b.embedding
    from asked a
    join given b on b.place < a.place and b.agent_name = a.agent_name and b.stated_hash = a.stated_hash
        and b.private = a.private and b.user_id is not distinct from a.user_id
    where b.embedding <=> a.embedding < p_distance
    order by place, distance nulls first, id, earlier;
end $$;
