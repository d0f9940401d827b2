-- Events, costs and assemblies stay, without the sessions that they name. Only the owner of a user's rows knows the
-- sessions, so every owner may ask for this.
create or replace function timeline.forget_sessions(p_tenant text, p_sessions text[]) returns bigint
language plpgsql security definer set search_path = pg_catalog as $$
declare
    v_count bigint;
begin
    if coalesce(cardinality(p_sessions), 0) = 0 then
        return 0;
    end if;
    update context.context_assembly_log set session_id = null
    where tenant = p_tenant and session_id = any (p_sessions);
    update timeline.costs set session_id = null where tenant = p_tenant and session_id = any (p_sessions);
    update timeline.events set session_id = null where tenant = p_tenant and session_id = any (p_sessions);
    get diagnostics v_count = row_count;
    return v_count;
end $$
