-- The rows of a choice `k`, in the version that is there now, that are in the scope.
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
