-- Writes the words of memories, or of some of their chunks, that have none yet. `p_words` is an array of `ChunkWords`, in
-- the order of `p_ids`: of the chunks from `first` on, which follow the text `before`. Releases before bring neither of
-- these, nor `bodies`. A turn's context is the turns before it: as many as fill 300 characters, of which one takes four
-- bytes at most. Of the memories themselves, only those with lower ids come before a turn.
-- Each memory is found by its key: `offset 0` and the setting hold the planner to that, which would read a whole tenant
-- where there are few memories, or many tenants, and keep that plan when they have become more.
create or replace function memory.put_chunks(p_tenant text, p_ids bigint[], p_words jsonb)
returns void
language plpgsql security definer set search_path = pg_catalog, public, memory set plan_cache_mode = force_generic_plan
set enable_seqscan = off as $$
begin
    insert into memory.agent_memory_chunks
        (tenant, scope, item_id, chunk, chunks, start, stop, words, private, tsv, scoped, body)
    select m.tenant, m.scope, m.id, c.chunk + coalesce(w.first, 0), m.chunks, c.start, c.stop, c.words, m.private,
           c.tsv, c.scoped, w.bodies[c.chunk + 1]
    from rows from (unnest(p_ids), jsonb_array_elements(p_words)) g(id, words)
    cross join lateral (
        select k.tenant, k.scope, k.id, k.chunks, k.private, k.session_id, k.seq, k.user_id
        from memory.agent_memory k where k.tenant = p_tenant and k.id = g.id offset 0
    ) m
    cross join jsonb_to_record(g.words) as w(
        keys text[], starts int[], stops int[], chunks text[], configs text[], terms text[], head text,
        bodies text[], first int, before text)
    -- A function is not a part of the statement if an argument is a query.
    cross join lateral (
        select case when w.before is not null then array[w.before] when m.seq is not null then array(
            select right(t.content, 300) from (
                select turn.content, turn.seq, sum(octet_length(turn.content)) over (
                           order by turn.seq desc, turn.id desc rows between unbounded preceding and 1 preceding) as newer,
                       turn.id
                from (
                    select b.content, b.seq, b.id
                    from memory.agent_memory b
                    where b.tenant = p_tenant and b.scope = m.scope and b.session_id = m.session_id and b.seq < m.seq
                      and b.user_id is not distinct from m.user_id and (m.private or not b.private)
                      and (b.id <> all (p_ids) or b.id < m.id)
                    order by b.seq desc, b.id desc limit 5
                ) turn
            ) t
            where t.newer is null or t.newer < 1200 order by t.seq desc, t.id desc) end as before
        offset 0
    ) turns
    cross join lateral memory.chunk_words(
        w.keys, w.starts, w.stops, w.chunks, w.configs, w.terms, w.head, turns.before) c;
end $$;
