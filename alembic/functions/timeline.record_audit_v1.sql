-- The only way to add a row to the audit: no role may write the table itself. Its event says that something happened,
-- and whoever may read the audit finds there what.
create or replace function timeline.record_audit(
    p_tenant text, p_actor text, p_agent text, p_request text, p_action text, p_target text, p_subjects text[],
    p_before jsonb, p_after jsonb) returns bigint
language plpgsql security definer set search_path = pg_catalog as $$
declare
    v_id bigint;
begin
    insert into timeline.audit (tenant, actor, agent_name, request_id, action, target, subjects, before, after)
    values (p_tenant, p_actor, p_agent, p_request, p_action, p_target, p_subjects, p_before, p_after)
    returning id into v_id;
    insert into timeline.events (tenant, scope, kind, payload)
    values (p_tenant, 'audit', 'audit', jsonb_build_object('id', v_id, 'action', p_action));
    return v_id;
end $$
