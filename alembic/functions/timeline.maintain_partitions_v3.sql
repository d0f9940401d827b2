-- DDL at run time belongs to the owner: a service may only ask for it, and for these tables only.
-- Whoever waits for an exclusive lock makes others wait, so it gives up soon. The caller tries again.
create or replace function timeline.maintain_partitions(p_parent text, p_keep interval) returns int
language plpgsql security definer set search_path = pg_catalog set lock_timeout = '300ms' as $$
declare
    v_schema text := split_part(p_parent, '.', 1);
    v_table text := split_part(p_parent, '.', 2);
    v_week date;
    v_name text;
    v_dropped int := 0;
begin
    if p_parent not in ('timeline.events', 'timeline.costs', 'context.context_assembly_log') then
        raise exception 'not a partitioned table of ours: %', p_parent using errcode = '22023';
    end if;
    if p_keep < interval '1 day' then
        raise exception 'retention below one day: %', p_keep using errcode = '22023';
    end if;
    perform pg_advisory_xact_lock(hashtextextended('maintain ' || p_parent, 0));
    for v_week in
        select (date_trunc('week', now() at time zone 'utc') + n * interval '1 week')::date
        from generate_series(0, 3) n
    loop
        v_name := v_table || '_p' || to_char(v_week, 'YYYYMMDD');
        if to_regclass(format('%I.%I', v_schema, v_name)) is null then
            begin
                execute format('create table %I.%I partition of %I.%I for values from (%L) to (%L)',
                    v_schema, v_name, v_schema, v_table,
                    v_week::timestamp at time zone 'utc', (v_week + 7)::timestamp at time zone 'utc');
            exception when check_violation then
                null;  -- rows of that week stand in the default partition already: they stay there
            end;
        end if;
    end loop;
    for v_name in
        select c.relname from pg_inherits i join pg_class c on c.oid = i.inhrelid
        where i.inhparent = format('%I.%I', v_schema, v_table)::regclass
          and c.relname ~ '_p[0-9]{8}$'
          and (to_date(right(c.relname, 8), 'YYYYMMDD') + 7)::timestamp at time zone 'utc' < now() - p_keep
    loop
        execute format('drop table %I.%I', v_schema, v_name);
        v_dropped := v_dropped + 1;
    end loop;
    if p_parent = 'timeline.costs' then
        delete from timeline.costs_by_day where day < ((now() - p_keep) at time zone 'utc')::date;
    end if;
    execute format('delete from %I.%I where created_at < now() - %L::interval', v_schema, v_table || '_default', p_keep);
    return v_dropped;
end $$
