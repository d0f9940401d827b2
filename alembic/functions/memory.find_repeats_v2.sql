-- What commits may repeat, by the place of each from 1 on. A row is a memory with the same fact (without a distance), a
-- near memory, or `earlier`: the place of a near commit before it. The nearest come first, stored memories before
-- commits. `p_facts` are content hashes; only near memories count as repeats of a commit without one. `p_itself` is the
-- memory that is near itself. A user has few memories, among many that say the same about other users. The sums keep
-- the planner off the HNSW index, which could miss a repeat. What is near is looked up by its key: `offset 0`, the
-- setting, and a comparison of models that no index serves hold the planner to that. It would read a whole tenant where
-- there are few memories, or many tenants, and keep that plan when they have become more.
create or replace function memory.find_repeats(
    p_tenant text, p_agents text[], p_facts bytea[], p_vectors halfvec[], p_private boolean[], p_users text[],
    p_model text, p_distance float8, p_itself bigint
) returns table (
    place bigint, id bigint, earlier bigint, content text, written_by text, mission_namespace text, distance float8
)
language plpgsql stable security definer set search_path = pg_catalog, public, memory set plan_cache_mode = force_generic_plan
set enable_seqscan = off as $$
#variable_conflict use_column
begin
    return query
    with given as (
        select * from unnest(p_agents, p_facts, p_vectors, p_private, p_users) with ordinality
            g(agent_name, content_hash, embedding, private, user_id, place)
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
    select a.place, m.id, null, m.content, m.written_by, m.mission_namespace, near.distance
    from asked a
    cross join lateral (
        select v.item_id, (v.embedding <=> a.embedding) + 0.0 as distance
        from memory.agent_memory_vec v
        where v.tenant = p_tenant and v.scope = 'agent:' || a.agent_name and v.model = p_model
          and v.private = a.private and v.item_id <> p_itself
        order by (v.embedding <=> a.embedding) + 0.0 limit 50
    ) near
    cross join lateral (
        select k.id, k.content, k.written_by, k.mission_namespace, k.chunks, k.user_id
        from memory.agent_memory k where k.tenant = p_tenant and k.id = near.item_id offset 0
    ) m
    where a.user_id is null and near.distance < p_distance and m.chunks = 1 and m.user_id is null
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
        where m.tenant = p_tenant and m.user_id = a.user_id and m.agent_name = a.agent_name and m.chunks = 1
          and m.private = a.private and m.id <> p_itself and v.embedding <=> a.embedding < p_distance
        order by distance, m.id limit 50
    ) near
    where a.user_id is not null
    union all
    select a.place, null, b.place, null, null, null, a.embedding <=> b.embedding
    from asked a
    join given b on b.place < a.place and b.agent_name = a.agent_name and b.private = a.private
        and b.user_id is not distinct from a.user_id
    where b.embedding <=> a.embedding < p_distance
    order by place, distance nulls first, id, earlier;
end $$;
