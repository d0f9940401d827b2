-- Analyzes the largest of our tables that has four times the rows, and a hundred, of when it was last analyzed; returns
-- its name, or null where there is none. PostgreSQL does the same once a minute, or later. Until then a connection keeps
-- the plans that it made when the table was empty, and any index that begins with the tenant is as good as the key for
-- them: each check of a foreign key reads all rows of the tenant. Statistics belong to the owner: a service may only
-- ask for them.
create or replace function timeline.analyze_grown() returns text
language plpgsql security definer set search_path = pg_catalog as $$
declare
    v_table text;
begin
    if not pg_try_advisory_xact_lock(hashtextextended('analyze grown', 0)) then
        return null;  -- another replica does
    end if;
    select format('%I.%I', n.nspname, c.relname) into v_table
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where n.nspname in ('cache', 'context', 'memory', 'sessions', 'timeline') and c.relkind = 'r'
      and pg_stat_get_live_tuples(c.oid) >= greatest(100, 4 * c.reltuples)
    order by pg_stat_get_live_tuples(c.oid) desc limit 1;
    if v_table is not null then
        execute 'analyze (skip_locked) ' || v_table;
    end if;
    return v_table;
end $$
