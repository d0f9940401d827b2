-- The keys of a scope's chunks, as a copy holds them.
select coalesce(array_agg((c.item_id << 15) | c.chunk), '{}') as keys from {chunks} c where {counted}
