-- $1 tenant, $2 configs, $3 texts, $4 terms, $5 vector, $6 model, $7 depth, $8 keys, $9 documents, $10 common_words, $11 common_df, $12 scope, $13 until, $14 users, $15 missions, $16 reader
with word as (
    select distinct on (w.word) w.word, w.part, w.place
    from (
        select case when p.config = 'english' then stem else p.config || ' ' || stem end as word, part, place
        from unnest($2::text[], $3::text[]) with ordinality p(config, text, part)
        cross join unnest(tsvector_to_array(to_tsvector(p.config::regconfig, p.text))) with ordinality s(stem, place)
        where octet_length(stem) <= 2000
    ) w
    order by w.word, w.part, w.place
), asked as materialized (
    select array(select w.word from word w order by w.part, w.place limit 64) as words
), lexeme as materialized (
    select l.word, l.place::int, common.df,
           ('''' || replace(replace(l.word, '\', '\\'), '''', '''''') || '''')::tsquery as query
    from asked
    cross join unnest(asked.words || array(select t from unnest($4::text[]) t where t <> all (asked.words)))
        with ordinality l(word, place)
    left join unnest($10::text[], $11::bigint[]) common(word, df) on common.word = l.word
), searched as materialized (
    select coalesce($9::bigint, (select count(*) from memory.searchable_chunks c where tenant = $1)) as documents
), most as materialized (
    select least(5000, 0.03 * documents)::bigint as selected from searched
), rare as materialized (
    select l.place, l.query,
           (select string_agg('''' || replace(replace(k || ':' || l.word, '\', '\\'), '''', '''''') || '''', ' | ')
            from unnest($8::text[]) k)::tsquery as scoped
    from lexeme l where l.df is null
), pair as materialized (
    select p.one, p.other, sum(p.held) over fewest as held, row_number() over fewest as number
    from (
        select a.word as one, b.word as other,
               case when a.place = b.place then a.df else a.df * b.df::float8 / greatest(1, s.documents) end as held
        from (select * from lexeme where df is not null order by df, place limit 5) a
        join (select * from lexeme where df is not null order by df, place limit 5) b on a.place <= b.place
        cross join searched s
    ) p
    window fewest as (order by p.held, p.one, p.other)
), frequent as materialized (
    select string_agg(
        '(''' || replace(replace(k || ':' || p.one, '\', '\\'), '''', '''''') || ''' & ''' || replace(replace(k || ':' || p.other, '\', '\\'), '''', '''''') || ''')', ' | ')::tsquery as query
    from pair p, unnest($8::text[]) k where p.held <= (select selected from most) or p.number = 1
), by_vector as materialized (
    select s.* from (
        select v.item_id, v.chunk, 1 - (v.embedding <=> $5::halfvec) as cosine
        from memory.agent_memory_vec v
        where $5::halfvec is not null and v.tenant is not distinct from $1 and v.model = $6 and large and scope <> $12 and not private and ($13::bigint is null or item_id <= $13)
        order by v.embedding <=> $5::halfvec
        offset 0
    ) s
    where (
        select ($14::text[] is null or u.user_id is null or u.user_id = any($14)) and ($15::text[] is null or u.mission_namespace = any($15) or (u.mission_namespace is null and (not u.private or u.agent_name = $16))) from memory.agent_memory u
        where u.tenant = $1 and u.id = s.item_id
    )
    limit $7
), posting as materialized (
    select m.item_id, m.chunk, m.words, m.tsv, m.place, m.query
    from (
        select held.*, r.place, r.query
        from rare r
        cross join lateral (select * from memory.searchable_words w where w.scoped @@ r.scoped offset 0) held
        limit 20000
    ) m
    where m.tenant = $1 and scope <> $12 and not private and ($13::bigint is null or item_id <= $13)
), by_rare as materialized (
    select distinct on (item_id, chunk) item_id, chunk, words, tsv from posting
), matched as materialized (
    select * from by_rare
    union all
    select m.item_id, m.chunk, m.words, m.tsv
    from (
        select * from (select * from memory.searchable_words w where w.scoped @@ (select query from frequent) offset 0) held
        limit (select selected from most)
    ) m
    where m.tenant = $1 and scope <> $12 and not private and ($13::bigint is null or item_id <= $13) and (m.item_id, m.chunk) not in (select item_id, chunk from by_rare)
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
        select ($14::text[] is null or u.user_id is null or u.user_id = any($14)) and ($15::text[] is null or u.mission_namespace = any($15) or (u.mission_namespace is null and (not u.private or u.agent_name = $16))) from memory.agent_memory u
        where u.tenant = $1 and u.id = s.item_id
    )
    limit $7
), candidate as materialized (
    select item_id, chunk, cosine from by_vector
    union all
    select t.item_id, t.chunk,
           (select 1 - (v.embedding <=> $5::halfvec) from memory.agent_memory_vec v
            where v.tenant = $1 and v.item_id = t.item_id and v.chunk = t.chunk
              and v.model is not distinct from $6)
    from best_text t
    where not exists (select 1 from by_vector v where v.item_id = t.item_id and v.chunk = t.chunk)
), evidence as (
    select k.item_id, k.chunk, k.cosine, held.places, held.tfs, c.chunks, c.start, c.stop, c.words,
           i.scope, i.created_at, i.occurred_at, i.session_id, i.seq, i.speaker, i.user_id, i.source_kind, i.source_claim, i.superseded_by, i.paths, i.symbols, i.step, c.body, case when c.body is null then i.content end as content, i.memory_type as kind, i.agent_name, i.updated_at, i.outcome, i.confirmed_count, i.confirmed_at, i.task_description, i.skills_used, i.mission_namespace, i.private, i.written_by, i.language, i.dispatch_id, i.recalled_from, greatest(i.access_count, (select a.access_count from memory.accesses a where a.tenant = $1 and a.memory_id = k.item_id)) as access_count
    from candidate k
    cross join lateral (
        select * from memory.searchable_chunks c where c.tenant = $1 and c.item_id = k.item_id and c.chunk = k.chunk offset 0
    ) c
    cross join lateral (select * from memory.agent_memory i where i.tenant = $1 and i.id = k.item_id offset 0) i
    cross join lateral (
        select array_agg(l.place) as places,
               array_agg((ts_rank('{0.2, 0.4, 1, 1}', c.tsv, l.query) / greatest(1, sqrt(c.words / 20.0)))::float4) as tfs
        from lexeme l where c.tsv @@ l.query
    ) held
)
select (select documents from searched) as documents,
       null::bigint[] as sizes,
       (select array_agg(word order by place) from lexeme) as lexemes,
       (select array_agg(df order by place) from rarity) as df,
       e.*
from (select 1) always left join evidence e on true
