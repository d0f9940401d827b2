-- Adds the rows of calls that were made, and what they took to the sums of the day: of whoever pays for them, and of
-- every name that they have. What they took stays, but no name of one whose purge began in the `p_waited` seconds that
-- the rows waited. All calls of a tenant count towards the tenant first, so that no two transactions wait for each other.
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
        with given as materialized (
            select case when e.gone then 'shared' else r.scope end as scope, r.service, r.kind, r.model,
                   coalesce(r.outcome, 'ok') as outcome, case when not e.gone then r.agent_name end as agent_name,
                   case when not e.gone then r.mission_id end as mission_id,
                   case when not e.gone then r.session_id end as session_id, r.key, r.input_tokens, r.output_tokens,
                   r.cache_read_tokens, r.cache_write_tokens, r.cost_usd, r.estimated_usd
            from jsonb_populate_recordset(null::timeline.costs, p_costs) r
            cross join lateral (select timeline.was_erased(p_tenant, array['agent:' || coalesce(r.agent_name, ''),
                'mission:' || coalesce(r.mission_id, ''), r.scope], p_waited) as gone offset 0) e
        ), added as (
            insert into timeline.costs_by_day as s (tenant, day, digest, scope, service, kind, model, agent_name,
                mission_id, session_id, key, calls, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens,
                cost_usd, estimated_usd, unpriced_calls, unpriced_answers)
            select p_tenant, (v_at at time zone 'utc')::date, sha256(convert_to(jsonb_build_array(scope, service, kind,
                       model, agent_name, mission_id, session_id, key)::text, 'UTF8')) as digest,
                   scope, service, kind, model, agent_name, mission_id, session_id, key, count(*), sum(input_tokens),
                   sum(output_tokens), sum(cache_read_tokens), sum(cache_write_tokens), coalesce(sum(cost_usd), 0),
                   coalesce(sum(estimated_usd), 0), count(*) filter (where cost_usd is null),
                   count(*) filter (where cost_usd is null and outcome = 'ok')
            from given group by scope, service, kind, model, agent_name, mission_id, session_id, key order by digest
            on conflict (tenant, day, digest) do update
            set calls = s.calls + excluded.calls, input_tokens = s.input_tokens + excluded.input_tokens,
                output_tokens = s.output_tokens + excluded.output_tokens,
                cache_read_tokens = s.cache_read_tokens + excluded.cache_read_tokens,
                cache_write_tokens = s.cache_write_tokens + excluded.cache_write_tokens,
                cost_usd = s.cost_usd + excluded.cost_usd, estimated_usd = s.estimated_usd + excluded.estimated_usd,
                unpriced_calls = s.unpriced_calls + excluded.unpriced_calls,
                unpriced_answers = s.unpriced_answers + excluded.unpriced_answers
        )
        insert into timeline.costs (tenant, scope, service, kind, model, outcome, agent_name, mission_id, session_id,
            key, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd, estimated_usd, created_at)
        select p_tenant, g.*, v_at from given g
        returning id;
end $$
