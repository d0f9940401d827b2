-- Deletes a part of a tenant's rows, and answers how many by table. The tenant is gone when every count is 0. No two
-- tables of the schemas have the same name.
create or replace function cache.erase_tenant(p_tenant text, p_limit int) returns jsonb
language sql security definer set search_path = pg_catalog as $$
    select timeline.erase_rows('cache', p_tenant, p_limit, '{}')
           || timeline.erase_rows('sessions', p_tenant, p_limit, '{}')
$$
