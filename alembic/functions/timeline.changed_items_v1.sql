-- Without settings of its own, so that its callers plan it as a part of their statement.
-- The handles of the items that an event says were edited, superseded or deleted; none for other events.
create or replace function timeline.changed_items(p_kind text, p_payload jsonb) returns setof text
language sql immutable as $$
    select prefix || ':' || (p_payload ->> 'id')
    from unnest(case
        when p_kind in ('cache_delete', 'cache_supersede') then array['cache']
        when p_kind in ('memory_delete', 'memory_edit', 'memory_merge', 'memory_supersede') then array['own', 'peer']
        when p_kind in ('long_term_delete', 'long_term_edit', 'long_term_supersede', 'commitment_expire')
            then array['memory']
    end) prefix
    union all
    select prefix || ':' || (p_payload ->> 'absorbed')
    from unnest(array['own', 'peer']) prefix where p_kind = 'memory_merge'
    union all
    select 'kg:' || closed
    from jsonb_array_elements_text(case when p_kind in ('kg_add', 'kg_invalidate') then p_payload -> 'closed' end) closed
    union all
    select 'persistent:' || (p_payload ->> 'number') where p_kind = 'persistent_object_forgotten'
$$;
