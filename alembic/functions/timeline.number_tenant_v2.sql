-- Commit order is not id order. A row gets its number after its commit, from one transaction at a time, so a reader
-- that follows a tenant's numbers skips nothing. The counter is a row, so it survives dump and restore.
-- `last_number` is null where another transaction numbers the tenant's events, and 0 before the first event. An event
-- that a purge has locked is not waited for, because other tenants wait for their turn.
-- Each event is found by its key: a plan that was made while there were few events would read all of them later.
create or replace function timeline.number_tenant(
    p_tenant text, p_limit int, out numbered int, out last_number bigint
)
language plpgsql security definer set search_path = pg_catalog, timeline set lock_timeout = '250ms'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
    v_start bigint;
begin
    numbered := 0;
    select c.last into last_number from timeline.counters c where c.tenant = p_tenant for update skip locked;
    if not found then
        if exists (select from timeline.counters c where c.tenant = p_tenant) then
            return;
        end if;
        if not exists (select from timeline.events e where e.tenant = p_tenant and e.seq is null) then
            last_number := 0;
            return;
        end if;
        select s.last into v_start from timeline.counter_start s;
        insert into timeline.counters (tenant, last) values (p_tenant, v_start)
        on conflict (tenant) do nothing returning counters.last into last_number;
        if not found then
            return;
        end if;
    end if;
    with batch as (
        select id, created_at, row_number() over (order by id) as place
        from (
            select id, created_at from timeline.events where tenant = p_tenant and seq is null order by id limit p_limit
        ) unnumbered
    )
    update timeline.events e set seq = last_number + batch.place
    from batch where e.tenant = p_tenant and e.id = batch.id and e.created_at = batch.created_at;
    get diagnostics numbered = row_count;
    if numbered > 0 then
        last_number := last_number + numbered;
        update timeline.counters c set last = last_number where c.tenant = p_tenant;
    end if;
end $$;
