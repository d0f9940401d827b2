-- The rows of chunks that somebody knows already, as a search would show them now. Those that are gone are missing.
select k.item_id, k.chunk, c.chunks, c.start, c.stop, c.words, null::float8 as cosine, null::int[] as places,
       null::float8[] as tfs, k.whole,
       case when k.whole and c.chunks > 1 then {text} end as whole_text, {columns}
from unnest(:items::bigint[], :numbers::smallint[], :whole::boolean[]) k(item_id, chunk, whole)
cross join lateral (
    select * from {chunks} c where c.tenant = :tenant and c.item_id = k.item_id and c.chunk = k.chunk offset 0
) c
cross join lateral (select * from {items} i where i.tenant = :tenant and i.{key} = k.item_id offset 0) i
where {within} and (select {visible} from {items} u where u.tenant = :tenant and u.{key} = k.item_id)
