-- Which words of a large scope select rows: rare ones each, and common ones a few rows together.
), most as materialized (
    select least({most_selected}, {selected_share} * documents)::bigint as selected from searched
), rare as materialized (
    select l.place, l.query,
           (select string_agg('''' || replace(replace(k || ':' || l.word, '\', '\\'), '''', '''''') || '''', ' | ')
            from unnest(:keys::text[]) k)::tsquery as scoped
    from lexeme l where l.df is null
), pair as materialized (
    -- The five rarest common words, each alone and two at a time: how many chunks hold them, if those of one word were as
    -- likely to hold the other as any chunk is, together with those before it, which fewer hold.
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
    -- Together they select no more rows than a word may, but for words that often stand together.
    select string_agg(
        '(''' || replace(replace(k || ':' || p.one, '\', '\\'), '''', '''''') || ''' & ''' || replace(replace(k || ':' || p.other, '\', '\\'), '''', '''''') || ''')', ' | ')::tsquery as query
    from pair p, unnest(:keys::text[]) k where p.held <= (select selected from most) or p.number = 1
