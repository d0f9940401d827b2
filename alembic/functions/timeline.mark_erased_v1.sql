-- Notes that a purge of a subject begins. Rows about it that some replica still holds in memory are then not written.
-- The lock waits for the transactions that were writing such rows: the purge finds what they wrote.
create or replace function timeline.mark_erased(p_tenant text, p_subjects text[]) returns void
language plpgsql security definer set search_path = pg_catalog as $$
begin
    perform pg_advisory_xact_lock(7202615, 1);
    delete from timeline.erased where at < clock_timestamp() - interval '1 day';
    insert into timeline.erased (digest)
    select distinct sha256(convert_to(p_tenant || chr(31) || subject, 'UTF8')) from unnest(p_subjects) subject
    order by 1
    on conflict (digest) do update set at = clock_timestamp();
end $$
