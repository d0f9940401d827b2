-- The tenants with events that have no number. A tenant costs one step in the index, however many events wait.
create or replace function timeline.tenants_waiting() returns setof text
language plpgsql stable set search_path = pg_catalog, timeline as $$
declare
    v_tenant text := '';
begin
    loop
        select e.tenant into v_tenant from timeline.events e
        where e.seq is null and e.tenant > v_tenant order by e.tenant limit 1;
        exit when not found;
        return next v_tenant;
    end loop;
end $$;
