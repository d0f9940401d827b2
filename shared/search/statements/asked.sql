-- The question's words. Every statement that reads a question begins with this.
with word as (
    -- A word of another language begins with its configuration's name, as in the index.
    select distinct on (w.word) w.word, w.part, w.place
    from (
        select case when p.config = 'english' then stem else p.config || ' ' || stem end as word, part, place
        from unnest(:configs::text[], :texts::text[]) with ordinality p(config, text, part)
        cross join unnest(tsvector_to_array(to_tsvector(p.config::regconfig, p.text))) with ordinality s(stem, place)
        where octet_length(stem) <= 2000
    ) w
    order by w.word, w.part, w.place
), asked as materialized (
    -- A question has at most 64 words and 64 terms. A tsvector's word may have 2,046 bytes, and in `scoped` its scope's
    -- key takes some of them.
    select array(select w.word from word w order by w.part, w.place limit 64) as words
