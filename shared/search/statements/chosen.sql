-- The rows of the chunks that a copy chose. The predicates of a search decide which of them are shown. A row that the
-- caller has in this version comes without its columns.
select k.item_id, k.chunk, now_is.version{live}, row.*
from unnest(:items::bigint[], :numbers::smallint[], :versions::text[]) k(item_id, chunk, version)
{there}
left join lateral (
    select c.chunks, c.start, c.stop, c.words, {columns}
    where k.version is null or k.version is distinct from now_is.version
) row on true
where :users::text[] is null or (select {visible} from {items} u where u.tenant = :tenant and u.{key} = k.item_id)
