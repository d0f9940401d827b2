-- Whether a purge of one of the subjects, or of the whole tenant (subject ''), began after `p_waited` seconds before this
-- statement: not before now, because the statement may wait here for a purge that begins.
create or replace function timeline.was_erased(p_tenant text, p_subjects text[], p_waited double precision)
returns boolean language plpgsql security definer set search_path = pg_catalog as $$
begin
    perform pg_advisory_xact_lock_shared(7202615, 1);
    return exists (
        select from timeline.erased
        where at >= statement_timestamp() - p_waited * interval '1 second'
          and digest in (
              select sha256(convert_to(p_tenant || chr(31) || subject, 'UTF8'))
              from unnest(array_append(p_subjects, '')) subject));
end $$
