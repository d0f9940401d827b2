-- Deletes a part of a tenant's rows, and answers how many by table. The tenant is gone when every count is 0. The note of
-- the purge itself and the audit come last, and not here.
create or replace function context.erase_tenant(p_tenant text, p_limit int) returns jsonb
language sql security definer set search_path = pg_catalog as $$
    select timeline.erase_rows('context', p_tenant, p_limit, array['tenant_purges', 'api_keys'])
        || timeline.erase_rows('timeline', p_tenant, p_limit, array['audit'])
$$
