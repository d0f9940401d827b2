-- Events, costs and assemblies stay, without the sessions that they name. Only the owner of a user's rows knows the
-- sessions, so every owner may ask for this. Events that have no number are few, and not in the index of sessions.
create or replace function timeline.forget_sessions(p_tenant text, p_sessions text[]) returns bigint
language plpgsql security definer set search_path = pg_catalog as $$
declare
    v_count bigint;
    v_unnumbered bigint;
begin
    if coalesce(cardinality(p_sessions), 0) = 0 then
        return 0;
    end if;
    update context.context_assembly_log set session_id = null
    where tenant = p_tenant and session_id = any (p_sessions);
    update timeline.costs set session_id = null where tenant = p_tenant and session_id = any (p_sessions);
    with gone as (
        delete from timeline.costs_by_day where tenant = p_tenant and session_id = any (p_sessions) returning *
    )
    insert into timeline.costs_by_day as s (tenant, day, digest, scope, service, kind, model, agent_name, mission_id,
        session_id, key, calls, input_tokens, output_tokens, cache_read_tokens, cache_write_tokens, cost_usd,
        estimated_usd, unpriced_calls, unpriced_answers)
    select p_tenant, day, sha256(convert_to(jsonb_build_array(scope, service, kind, model, agent_name, mission_id,
               null, key)::text, 'UTF8')) as digest,
           scope, service, kind, model, agent_name, mission_id, null, key, sum(calls), sum(input_tokens),
           sum(output_tokens), sum(cache_read_tokens), sum(cache_write_tokens), sum(cost_usd), sum(estimated_usd),
           sum(unpriced_calls), sum(unpriced_answers)
    from gone group by day, scope, service, kind, model, agent_name, mission_id, key order by day, digest
    on conflict (tenant, day, digest) do update
    set calls = s.calls + excluded.calls, input_tokens = s.input_tokens + excluded.input_tokens,
        output_tokens = s.output_tokens + excluded.output_tokens,
        cache_read_tokens = s.cache_read_tokens + excluded.cache_read_tokens,
        cache_write_tokens = s.cache_write_tokens + excluded.cache_write_tokens,
        cost_usd = s.cost_usd + excluded.cost_usd, estimated_usd = s.estimated_usd + excluded.estimated_usd,
        unpriced_calls = s.unpriced_calls + excluded.unpriced_calls,
        unpriced_answers = s.unpriced_answers + excluded.unpriced_answers;
    update timeline.events set session_id = null
    where tenant = p_tenant and session_id = any (p_sessions) and seq is not null;
    get diagnostics v_count = row_count;
    update timeline.events set session_id = null
    where tenant = p_tenant and session_id = any (p_sessions) and seq is null;
    get diagnostics v_unnumbered = row_count;
    return v_count + v_unnumbered;
end $$
