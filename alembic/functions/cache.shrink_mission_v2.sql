-- Evicts the oldest entries after a budget was lowered, until the rest fits. An agent's newest checkpoint of each
-- session stays in any case.
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
                     and newer.agent_name is not distinct from e.agent_name and newer.id > e.id) as protected
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
        delete from cache.index_queue q using gone
        where q.tenant = p_tenant and q.store = 'psychic_cache' and q.item_id = gone.id
    )
    select coalesce(sum(token_count), 0), count(*) into v_tokens, v_count from gone;
    update cache.missions c set
        tokens = c.tokens - v_tokens, entries = c.entries - v_count, evicted_count = c.evicted_count + v_count
    where c.tenant = p_tenant and c.mission_id = p_mission;
    return v_count;
end $$
