-- For the release that numbered the events of all tenants in one call. Tenants share the batch evenly.
create or replace function timeline.number_events(p_limit int) returns int
language plpgsql set search_path = pg_catalog, timeline as $$
declare
    v_tenants text[] := array(select timeline.tenants_waiting());
    v_tenant text;
    v_numbered int;
    v_count int := 0;
begin
    foreach v_tenant in array v_tenants loop
        select n.numbered into v_numbered
        from timeline.number_tenant(v_tenant, greatest(p_limit / cardinality(v_tenants), 1)) n;
        v_count := v_count + v_numbered;
    end loop;
    return v_count;
end $$;
