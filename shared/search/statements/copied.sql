-- Every chunk of a scope, for a copy. Each chunk's item and vector are looked up by their keys, as in all statements
-- here: `offset 0` makes the planner do so, and `is not distinct from` keeps it off the index of the scope's vectors.
-- Without statistics of a new table, it would read all of the scope for each of them.
select c.item_id, c.chunk, c.scope, c.words, c.expires_at, {hidden} as hidden, i.user_id, tsvectorsend(c.tsv) as tsv, v.embedding
from unnest(:names::text[]) s(name)
cross join lateral (select * from {chunks} c where {copied} offset 0) c
cross join lateral (select i.user_id from {items} i where i.tenant = :tenant and i.{key} = c.item_id offset 0) i
left join lateral (
    select v.embedding from {vectors} v
    where v.tenant = :tenant and v.item_id = c.item_id and v.chunk = c.chunk and v.model is not distinct from :model
    offset 0
) v on true
