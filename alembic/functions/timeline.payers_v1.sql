-- Whose ceilings a call counts towards: the tenant's, those of its key and of every key that this one descends from, and
-- that of its mission.
create or replace function timeline.payers(p_tenant text, p_key text, p_mission text) returns text[]
language sql stable security definer set search_path = pg_catalog as $$
    with recursive line as (
        select k.id, k.created_by, 1 as generation from context.api_keys k
        where k.tenant = p_tenant and k.id = case when p_key ~ '^key:[0-9]{1,18}$' then substr(p_key, 5)::bigint end
        union all
        select k.id, k.created_by, line.generation + 1 from line
        join context.api_keys k on k.tenant = p_tenant
            and k.id = case when line.created_by ~ '^key:[0-9]{1,18}$' then substr(line.created_by, 5)::bigint end
        where line.generation < 16
    )
    select array['tenant'] || array(select 'key:' || line.id from line order by line.id)
        || case when p_mission is null then '{}' else array['mission:' || p_mission] end
$$
