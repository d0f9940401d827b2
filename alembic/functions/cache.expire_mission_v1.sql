-- Takes expired entries out of the counters, whether a writer, a reader or the sweep comes first.
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
        delete from cache.index_queue q using gone
        where q.tenant = p_tenant and q.store = 'psychic_cache' and q.item_id = gone.id
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
