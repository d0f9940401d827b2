-- The rows of the chunks that a copy chose. The predicates of a search decide which of them are shown.
select k.item_id, k.chunk, c.chunks, c.start, c.stop, c.words,
       {columns}
from unnest(:items::bigint[], :numbers::smallint[]) k(item_id, chunk)
join lateral (
    select * from {chunks} c where c.tenant = :tenant and c.item_id = k.item_id and c.chunk = k.chunk and {within}
) c on true
join {items} i on i.tenant = :tenant and i.id = k.item_id
where :users::text[] is null or (select {visible} from {items} u where u.tenant = :tenant and u.id = k.item_id)
