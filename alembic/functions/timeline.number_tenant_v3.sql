-- Commit order is not id order. A row gets its number after its commit, from one transaction at a time, so a reader
-- that follows a tenant's numbers skips nothing. The counter is a row, so it survives dump and restore.
-- `last_number` is null where another transaction numbers the tenant's events, and 0 before the first event. An event
-- that a purge has locked is not waited for, because other tenants wait for their turn.
-- Sessions that were given an item of which an event says that it changed are told by an event, context_stale, once for
-- what they were given. It is a hint: an answer that was given in the same second may have the change already, and rows
-- that another transaction holds are left out, as are those beyond the newest 5,000, so that a turn stays short.
-- Each event is found by its key: a plan that was made while there were few events would read all of them later.
create or replace function timeline.number_tenant(
    p_tenant text, p_limit int, out numbered int, out last_number bigint
)
language plpgsql security definer set search_path = pg_catalog, timeline set lock_timeout = '250ms'
set enable_seqscan = off set enable_hashjoin = off set enable_mergejoin = off as $$
declare
    v_start bigint;
    v_changed text[];
    v_at timestamptz;
    v_given bigint[];
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
    ), done as (
        update timeline.events e set seq = last_number + batch.place
        from batch where e.tenant = p_tenant and e.id = batch.id and e.created_at = batch.created_at
        returning e.kind, e.payload, e.created_at
    ), changed as (
        select i.handle, d.created_at as at
        from done d cross join lateral timeline.changed_items(d.kind, d.payload) i(handle)
    )
    select (select count(*) from done), array_agg(distinct c.handle), max(c.at) into numbered, v_changed, v_at
    from changed c where c.handle is not null;
    if v_changed is not null then
        select array_agg(g.position) into v_given from (
            select position from context.session_given
            where tenant = p_tenant and split_part(handle, '#', 1) = any(v_changed) and not stale
              and state <> 'gone' and given_at < v_at + interval '1 second'
            order by position desc limit 5000
            for update skip locked
        ) g;
    end if;
    if v_given is not null then
        with marked as (
            update context.session_given g set stale = true
            where g.tenant = p_tenant and split_part(g.handle, '#', 1) = any(v_changed) and not g.stale
              and g.position = any(v_given)
            returning g.caller, g.session_id, g.handle,
                (select substr(s.scope, 9) from unnest(g.scopes) s(scope) where s.scope like 'mission:%' limit 1) as mission
        )
        insert into timeline.events (tenant, scope, kind, mission_id, agent_name, session_id, payload)
        select p_tenant, 'agent:' || caller, 'context_stale', max(mission), caller, session_id,
               jsonb_build_object('handles', to_jsonb((array_agg(distinct handle))[1:100]),
                                  'items', count(distinct handle))
        from marked group by caller, session_id;
    end if;
    if numbered > 0 then
        last_number := last_number + numbered;
        update timeline.counters c set last = last_number where c.tenant = p_tenant;
    end if;
end $$;
