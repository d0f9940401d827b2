-- Takes the names of a subject (`agent:…`, `user:…`, `mission:…`) out of the audit; null stands for the whole tenant.
-- That somebody did something, with which key and when, stays.
create or replace function timeline.forget_audit(p_tenant text, p_subject text) returns bigint
language plpgsql security definer set search_path = pg_catalog as $$
declare
    v_count bigint;
begin
    update timeline.audit
    set tenant = case when p_subject is null then '(erased)' else tenant end,
        agent_name = case when p_subject is null or 'agent:' || agent_name = p_subject then null else agent_name end,
        target = split_part(target, ':', 1), subjects = '{}', before = null,
        after = case when action like 'purge%' then after end
    where tenant = p_tenant and (p_subject is null or subjects @> array[p_subject]);
    get diagnostics v_count = row_count;
    return v_count;
end $$
