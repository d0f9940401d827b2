-- The question's words, and what of each scope was committed since its copy took its snapshot: chunks that were written,
-- and those of `pending` items that have their vectors by now. One row at least. A number of the future comes from
-- another server, whose dump was restored here.
--
-- A `select` around an array hides its length from the planner. A plan for these values then seems to cost as much as one
-- for any values, so Postgres keeps the latter. Planning each question anew took most of the statement's time.
{asked}
), changed as materialized (
    select c.item_id, c.chunk
    from unnest((select :names::text[]), (select :snapshots::pg_snapshot[])) s(name, snapshot)
    cross join lateral (
        -- `offset 0` leaves the index over `changed` as the only way to a scope's chunks.
        select c.item_id, c.chunk
        from {chunks} c
        where {copied}
          and c.changed >= pg_snapshot_xmin(s.snapshot)::text::bigint
          and c.changed < pg_snapshot_xmax(pg_current_snapshot())::text::bigint
          and not pg_visible_in_snapshot(c.changed::text::xid8, s.snapshot)
        offset 0
    ) c
    union
    select v.item_id, v.chunk
    from {vectors} v
    where v.tenant = :tenant and v.item_id = any((select :pending::bigint[])::bigint[])
      and v.model is not distinct from :model
    limit :most
), fresh as (
    select c.item_id, c.chunk, c.scope, c.words, c.expires_at, {hidden} as hidden, i.user_id, tsvectorsend(c.tsv) as tsv,
           v.embedding
    from changed k
    cross join lateral (
        select * from {chunks} c where c.tenant = :tenant and c.item_id = k.item_id and c.chunk = k.chunk offset 0
    ) c
    cross join lateral (select i.user_id from {items} i where i.tenant = :tenant and i.{key} = k.item_id offset 0) i
    left join lateral (
        select v.embedding from {vectors} v
        where v.tenant = :tenant and v.item_id = k.item_id and v.chunk = k.chunk and v.model is not distinct from :model
        offset 0
    ) v on true
), shown as (
    select count(*) filter (where now_is.version = k.version) = cardinality(:items::bigint[]) as as_kept{live_arrays}
    from unnest((select :items::bigint[]), (select :numbers::smallint[]), (select :versions::text[]))
        with ordinality k(item_id, chunk, version, place)
{there}
    where :users::text[] is null or (select {visible} from {items} u where u.tenant = :tenant and u.{key} = k.item_id)
)
select now() as now,
       pg_current_snapshot() as snapshot,
       pg_postmaster_start_time() as server,
       coalesce((select :documents::bigint), (select count(*) from {chunks} c where {counted})) as documents,
       {sizes} as sizes,
       (select asked.words || array(select t from unnest(:terms::text[]) with ordinality n(t, place)
                                    where t <> all (asked.words) order by place)
        from asked) as lexemes,
       fresh.*,
       shown.*
from (select 1) always
left join fresh on true
left join lateral (select * from shown where fresh.item_id is null) shown on true
