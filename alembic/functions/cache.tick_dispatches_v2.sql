-- A live dispatch that an entry names is alive. Outputs are counted on the dispatch, since entries do not stay.
-- Dispatches are locked in the order of their ids, as in every other transaction that locks several. The lock is a
-- statement of its own, and the time a value: a distributed table refuses both inside the update.
create or replace function cache.tick_dispatches(p_tenant text, p_mission text, p_written bigint[], p_dispatches bigint[])
returns void language plpgsql set search_path = pg_catalog, public, cache as $$
declare
    v_locked bigint[];
    v_now timestamptz;
begin
    v_locked := array(
        select d.id from cache.agent_dispatch d
        where d.tenant = p_tenant and d.id = any (p_dispatches)
        order by d.id for no key update);
    v_now := clock_timestamp();
    update cache.agent_dispatch d set
        last_heartbeat = case when d.closed_at is null then v_now else d.last_heartbeat end,
        outputs = d.outputs + case when d.mission_id = p_mission then coalesce(o.n, 0) else 0 end
    from unnest(v_locked) l(id) left join (
        select e.dispatch_id, count(*) as n from cache.psychic_cache e
        where e.tenant = p_tenant and e.id = any (p_written) and e.context_type = 'output'
        group by e.dispatch_id
    ) o on o.dispatch_id = l.id
    where d.tenant = p_tenant and d.id = l.id and (d.closed_at is null or o.n is not null);
end $$
