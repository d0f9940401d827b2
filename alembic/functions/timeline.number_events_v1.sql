-- Commit order is not id order. A row gets its number after its commit, from one transaction at a time, so a reader
-- that follows the numbers skips nothing. The counter is a row, so it survives dump and restore.
create or replace function timeline.number_events(p_limit int) returns int
language plpgsql set search_path = pg_catalog, timeline as $$
declare
    v_last bigint;
    v_count int;
begin
    select last into v_last from timeline.sequencer for update skip locked;
    if not found then
        return 0;
    end if;
    with batch as (
        select id, created_at, row_number() over (order by id) as place
        from (select id, created_at from timeline.events where seq is null order by id limit p_limit) unnumbered
    )
    update timeline.events e set seq = v_last + batch.place
    from batch where e.id = batch.id and e.created_at = batch.created_at;
    get diagnostics v_count = row_count;
    if v_count > 0 then
        update timeline.sequencer set last = v_last + v_count;
    end if;
    return v_count;
end $$;
