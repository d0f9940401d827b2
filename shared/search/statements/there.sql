-- Of each chunk `k` that the scope shows: its row `c`, its item's row `i`, and the version that both have now.
cross join lateral (
    select * from (
        select * from {chunks} c where c.tenant = :tenant and c.item_id = k.item_id and c.chunk = k.chunk offset 0
    ) c
    where {within}
) c
cross join lateral (
    select i.xmin as written, i.* from {items} i where i.tenant = :tenant and i.{key} = k.item_id offset 0
) i
cross join lateral (select i.written::text || ' ' || c.changed as version) now_is
