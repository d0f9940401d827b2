-- Deletes a part of a tenant's rows, and answers how many by table. The tenant is gone when every count is 0. The note of
-- the purge itself and the audit come last, and not here.
-- If the tenant comes back, its numbers go on after those that it had.
create or replace function context.erase_tenant(p_tenant text, p_limit int) returns jsonb
language plpgsql security definer set search_path = pg_catalog as $$
declare
    v_last bigint;
begin
    select c.last into v_last from timeline.counters c where c.tenant = p_tenant for update;
    if found then
        update timeline.counter_start s set last = v_last where s.last < v_last;
    end if;
    return timeline.erase_rows('context', p_tenant, p_limit, array['tenant_purges', 'api_keys'])
        || timeline.erase_rows('timeline', p_tenant, p_limit, array['audit']);
end $$
