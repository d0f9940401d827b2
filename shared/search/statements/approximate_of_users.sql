-- As approximate.sql, for a key of some users or missions: each arm checks its rows in order until enough are visible to it.
{asked}
), lexeme as materialized (
    select l.word, l.place::int, common.df,
           ('''' || replace(replace(l.word, '\', '\\'), '''', '''''') || '''')::tsquery as query
    from asked
    cross join unnest(asked.words || array(select t from unnest(:terms::text[]) t where t <> all (asked.words)))
        with ordinality l(word, place)
    left join unnest(:common_words::text[], :common_df::bigint[]) common(word, df) on common.word = l.word
), searched as materialized (
    select coalesce(:documents::bigint, (select count(*) from {chunks} c where {counted})) as documents
{selecting}
), by_vector as materialized (
    select s.* from (
        select v.item_id, v.chunk, 1 - (v.embedding <=> :vector::halfvec) as cosine
        from {vectors} v
        where :vector::halfvec is not null and v.tenant is not distinct from :tenant and v.model = :model and {indexed} and {within}
        order by v.embedding <=> :vector::halfvec
        offset 0
    ) s
    where (
        select {visible} from {items} u
        where u.tenant = :tenant and u.{key} = s.item_id
    )
    limit :depth
), posting as materialized (
    select m.item_id, m.chunk, m.words, m.tsv, m.place, m.query
    from (
        select held.*, r.place, r.query
        from rare r
        cross join lateral (select * from {by_words} w where w.scoped @@ r.scoped offset 0) held
        limit {most_read}
    ) m
    where m.tenant = :tenant and {within}
), by_rare as materialized (
    select distinct on (item_id, chunk) item_id, chunk, words, tsv from posting
), matched as materialized (
    select * from by_rare
    union all
    select m.item_id, m.chunk, m.words, m.tsv
    from (
        select * from (select * from {by_words} w where w.scoped @@ (select query from frequent) offset 0) held
        limit (select selected from most)
    ) m
    where m.tenant = :tenant and {within} and (m.item_id, m.chunk) not in (select item_id, chunk from by_rare)
), hit as materialized (
    select h.item_id, h.chunk, h.place, ts_rank('{0.2, 0.4, 1, 1}', h.tsv, h.query) / greatest(1, sqrt(h.words / 20.0)) as tf
    from (
        select item_id, chunk, words, tsv, place, query from posting
        union all
        select m.*, l.place, l.query from matched m join lexeme l on m.tsv @@ l.query where l.df is not null
    ) h
), rarity as materialized (
    select l.place, coalesce(l.df, h.df, 0) as df,
           ln(1 + (select documents from searched) / greatest(coalesce(l.df, h.df), 1)::float8) as idf
    from lexeme l left join (select place, count(*) as df from hit group by place) h on h.place = l.place
), best_text as materialized (
    select s.* from (
        select h.item_id, h.chunk,
               sum(((select array_agg(r.idf order by r.place) from rarity r))[h.place] * h.tf) as score
        from hit h group by h.item_id, h.chunk
        order by score desc, h.item_id desc, h.chunk
        offset 0
    ) s
    where (
        select {visible} from {items} u
        where u.tenant = :tenant and u.{key} = s.item_id
    )
    limit :depth
), candidate as materialized (
    select item_id, chunk, cosine from by_vector
    union all
    select t.item_id, t.chunk,
           (select 1 - (v.embedding <=> :vector::halfvec) from {vectors} v
            where v.tenant = :tenant and v.item_id = t.item_id and v.chunk = t.chunk
              and v.model is not distinct from :model)
    from best_text t
    where not exists (select 1 from by_vector v where v.item_id = t.item_id and v.chunk = t.chunk)
), evidence as (
    select k.item_id, k.chunk, k.cosine, held.places, held.tfs, c.chunks, c.start, c.stop, c.words,
           {columns}{live}
    from candidate k
    cross join lateral (
        select * from {chunks} c where c.tenant = :tenant and c.item_id = k.item_id and c.chunk = k.chunk offset 0
    ) c
    cross join lateral (select * from {items} i where i.tenant = :tenant and i.{key} = k.item_id offset 0) i
    cross join lateral (
        select array_agg(l.place) as places,
               array_agg((ts_rank('{0.2, 0.4, 1, 1}', c.tsv, l.query) / greatest(1, sqrt(c.words / 20.0)))::float4) as tfs
        from lexeme l where c.tsv @@ l.query
    ) held
)
select (select documents from searched) as documents,
       {sizes} as sizes,
       (select array_agg(word order by place) from lexeme) as lexemes,
       (select array_agg(df order by place) from rarity) as df,
       e.*
from (select 1) always left join evidence e on true
