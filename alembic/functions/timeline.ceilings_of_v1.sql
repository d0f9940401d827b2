-- The ceilings that a call of this key and mission counts towards, and what is spent of each.
create or replace function timeline.ceilings_of(p_tenant text, p_key text, p_mission text)
returns table (subject text, period text, limit_usd numeric, spent_usd numeric, calls bigint, unpriced bigint)
language plpgsql stable security definer set search_path = pg_catalog as $$
declare
    v_today date := (statement_timestamp() at time zone 'utc')::date;
begin
    -- Most tenants have none, and then nobody looks for the key's makers.
    if not exists (select from timeline.ceilings c where c.tenant = p_tenant) then
        return;
    end if;
    return query
        select c.subject, c.period, c.limit_usd, coalesce(sum(s.usd), 0), coalesce(sum(s.calls), 0)::bigint,
               coalesce(sum(s.unpriced), 0)::bigint
        from timeline.ceilings c
        left join timeline.spending s on s.tenant = c.tenant and s.tenant = p_tenant and s.subject = c.subject
            and s.day >= case c.period when 'day' then v_today
                when 'month' then date_trunc('month', v_today::timestamp)::date else '-infinity' end
        where c.tenant = p_tenant and c.subject = any (timeline.payers(p_tenant, p_key, p_mission))
        group by c.subject, c.period, c.limit_usd order by c.subject, c.period;
end $$
