-- The cosines of the chunks that codes put on a shortlist.
select (k.item_id << 15) | k.chunk as key, 1 - (v.embedding <=> :vector::halfvec) as cosine
from unnest(:items::bigint[], :numbers::smallint[]) k(item_id, chunk)
cross join lateral (
    select v.embedding from {vectors} v
    where v.tenant = :tenant and v.item_id = k.item_id and v.chunk = k.chunk and v.model is not distinct from :model
    offset 0
) v
