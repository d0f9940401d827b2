-- Deletes at most `p_limit` rows of a tenant from each table of a schema that has a tenant: it finds the tables in the
-- catalog, so that nobody can forget a new one. Tables that refer to others come first, so that the counts are complete.
create or replace function timeline.erase_rows(p_schema text, p_tenant text, p_limit int, p_but text[]) returns jsonb
language plpgsql set search_path = pg_catalog as $$
declare
    v_table record;
    v_count bigint;
    v_counts jsonb := '{}';
begin
    for v_table in
        with recursive tables as (
            select c.oid, c.relname from pg_class c
            join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant' and not a.attisdropped
            where c.relnamespace = p_schema::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
              and c.relname <> all (p_but)
        ), depths as (
            select oid, 0 as depth from tables
            union all
            select f.confrelid, d.depth + 1 from depths d
            join pg_constraint f on f.conrelid = d.oid and f.contype = 'f' and f.confrelid <> f.conrelid
        )
        select t.oid::regclass as name, t.relname, max(d.depth) as depth
        from tables t join depths d on d.oid = t.oid group by t.oid, t.relname order by depth, t.relname
    loop
        -- A ctid is unique within a partition only, so the tenant is named twice.
        execute format(
            'with gone as (delete from %1$s where tenant = $1 and ctid = any (array('
            'select ctid from %1$s where tenant = $1 limit $2)) returning 1) select count(*) from gone', v_table.name)
        into v_count using p_tenant, p_limit;
        v_counts := v_counts || jsonb_build_object(v_table.relname, v_count);
    end loop;
    return v_counts;
end $$
