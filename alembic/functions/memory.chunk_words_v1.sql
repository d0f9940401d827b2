-- The words of each chunk with their places and weights: A for the chunk's own text, B for who and when, C for the end
-- of the text before it. `words` counts the positions of the chunk's own words: the length that search divides by.
create or replace function memory.chunk_words(
    p_keys text[], p_starts int[], p_stops int[], p_chunks text[], p_head text, p_previous text)
returns table (chunk smallint, start int, stop int, words int, tsv tsvector, scoped tsvector)
language sql stable set search_path = pg_catalog as $$
    select (c.place - 1)::smallint, c.start, c.stop, greatest(1, o.words)::int, o.every,
           array_to_tsvector(array(
               select k || ':' || w from unnest(p_keys) k, unnest(tsvector_to_array(o.every)) w))
    from (
        select place, start, stop, body, coalesce(lag(body) over (order by place), p_previous) as previous
        from unnest(p_starts, p_stops, p_chunks) with ordinality u(start, stop, body, place)
    ) c
    cross join lateral (
        select to_tsvector('english', c.body) as own
    ) t
    cross join lateral (
        select setweight(t.own, 'A') || setweight(to_tsvector('english', p_head), 'B')
               || setweight(to_tsvector('english', coalesce(right(c.previous, 300), '')), 'C') as every,
               (select sum(cardinality(w.positions)) from unnest(t.own) w) as words
    ) o
$$
