-- Every chunk of a scope, for a copy.
select c.item_id, c.chunk, c.scope, c.words, c.expires_at, {hidden} as hidden, i.user_id, tsvectorsend(c.tsv) as tsv, v.embedding
from unnest(:names::text[]) s(name)
cross join lateral (select * from {chunks} c where {copied} offset 0) c
join {items} i on i.tenant = :tenant and i.{key} = c.item_id
left join {vectors} v on v.tenant = :tenant and v.item_id = c.item_id and v.chunk = c.chunk and v.model = :model
