-- Adds the rows of calls that were made, and what they took to the day's spending of whoever pays for them. What they
-- took stays, but no name of one whose purge began in the `p_waited` seconds that the rows waited. All calls of a tenant
-- count towards the tenant first, so that no two transactions wait for each other.
create or replace function timeline.record_costs(p_tenant text, p_costs jsonb, p_waited double precision)
returns setof bigint language plpgsql security definer set search_path = pg_catalog as $$
declare
    v_at timestamptz := clock_timestamp();
begin
    if timeline.was_erased(p_tenant, '{}', p_waited) then
        return;
    end if;
    insert into timeline.spending as s (tenant, subject, day, calls, unpriced, usd)
    select p_tenant, subject, (v_at at time zone 'utc')::date, count(*),
           count(*) filter (where coalesce(r.cost_usd, r.estimated_usd) is null),
           coalesce(sum(coalesce(r.cost_usd, r.estimated_usd)), 0)
    from jsonb_populate_recordset(null::timeline.costs, p_costs) r
    cross join lateral unnest(timeline.payers(p_tenant, r.key, case when not timeline.was_erased(
        p_tenant, array['mission:' || coalesce(r.mission_id, '')], p_waited) then r.mission_id end)) subject
    group by subject order by subject <> 'tenant', subject
    on conflict (tenant, subject, day) do update
    set calls = s.calls + excluded.calls, unpriced = s.unpriced + excluded.unpriced, usd = s.usd + excluded.usd;
    return query
        insert into timeline.costs (tenant, scope, service, kind, model, outcome, agent_name, mission_id, session_id,
            key, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, estimated_usd, created_at)
        select p_tenant, case when e.gone then 'shared' else r.scope end, r.service, r.kind, r.model,
               coalesce(r.outcome, 'ok'), case when not e.gone then r.agent_name end,
               case when not e.gone then r.mission_id end, case when not e.gone then r.session_id end, r.key,
               r.input_tokens, r.output_tokens, r.cache_read_tokens, r.cache_write_tokens, r.cost_usd,
               r.estimated_usd, v_at
        from jsonb_populate_recordset(null::timeline.costs, p_costs) r
        cross join lateral (select timeline.was_erased(p_tenant, array['agent:' || coalesce(r.agent_name, ''),
            'mission:' || coalesce(r.mission_id, ''), r.scope], p_waited) as gone offset 0) e
        returning id;
end $$
