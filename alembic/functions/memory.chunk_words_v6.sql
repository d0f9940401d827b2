-- The words of each chunk with their places and weights: A for the chunk's own text and terms, B for who and when, C for
-- the end of the text before it, D for the turns before that one. `p_before` holds the session's turns before the item,
-- the newest first. All of them are read as English; a chunk of another language has its stems besides. `p_terms` are
-- tsvectors of exact terms. `words` is the length that search divides by: the positions of the chunk's own words, and
-- half its characters in scripts that put no spaces between words. `offset 0` keeps the planner from copying expressions
-- to where they are used, so the parser reads each text once. The release before gives `p_keys` and stores `scoped`.
create or replace function memory.chunk_words(
    p_keys text[], p_starts int[], p_stops int[], p_chunks text[], p_configs text[], p_terms text[], p_head text,
    p_before text[])
returns table (chunk smallint, start int, stop int, words int, tsv tsvector, scoped tsvector)
language sql stable as $$
    select (c.place - 1)::smallint, c.start, c.stop, greatest(1, o.words)::int, o.every,
           null::tsvector
    from (
        select place, start, stop, body, coalesce(config, 'english') as config,
               coalesce(terms, '')::tsvector as terms,
               coalesce(right(coalesce(lag(body) over (order by place), p_before[1]), 300), '') as previous,
               case when place = 1 then coalesce(array_to_string(p_before[2:], ' '), '') else '' end as earlier
        from unnest(p_starts, p_stops, p_chunks, p_configs, p_terms) with ordinality
            u(start, stop, body, config, terms, place)
    ) c
    cross join lateral (
        select to_tsvector('english', c.body) as own,
               case when c.config in ('english', 'simple') then ''
                    else setweight(memory.stems(c.config, c.body), 'A')
                         || setweight(memory.stems(c.config, c.previous), 'C') end as stems,
               case when c.config = 'simple'
                    then regexp_count(c.body, '[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u9fff\uac00-\ud7af]') / 2
                    else 0 end as unspaced
        offset 0
    ) t
    cross join lateral (
        select setweight(t.own, 'A') || c.terms || setweight(to_tsvector('english', p_head), 'B')
               || setweight(to_tsvector('english', c.previous), 'C')
               || setweight(to_tsvector('english', left(c.earlier, 300 - length(c.previous))), 'D')
               || t.stems as every,
               t.unspaced + coalesce((select sum(cardinality(w.positions)) from unnest(t.own) w), 0) as words
        offset 0
    ) o
$$
