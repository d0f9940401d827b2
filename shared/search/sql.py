"""The one search statement of a store: both arms, the evidence of their union, and word statistics."""

from __future__ import annotations

# Weights of the words of a chunk, in ts_rank's order {D, C, B, A}: A its own text, B who and when, C the
# end of the previous turn of its session. ts_rank of one lexeme saturates with its count, in [0, 1].
FIELD_WEIGHTS = "{0, 0.4, 1, 1}"
# Long chunks match by chance: an absolute norm, so that stores stay comparable and none needs its average.
LENGTH_NORM = "greatest(1, sqrt(c.words / 20.0))"
MAX_LEXEMES = 64

# $1 tenant, $2 query, $3 vector or null, $4 model, $5 depth, $6.. for {where}, which narrows `c` or `v`.
# A vector arm that finds no vector leaves `cosine` null. df is counted inside what was searched.
_SEARCH = """
with lexeme as materialized (
    select l.word, l.place,
           ('''' || replace(replace(l.word, '\\', '\\\\'), '''', '''''') || '''')::tsquery as query
    from unnest(tsvector_to_array(to_tsvector('english', $2))) with ordinality l(word, place)
    where l.place <= {max_lexemes}
), any_lexeme as materialized (
    select string_agg(query::text, ' | ')::tsquery as query from lexeme
), searched as materialized (
    select count(*) as documents from {chunks} c where c.tenant = $1 and {where_chunks}
), by_vector as materialized (
    select v.item_id, v.chunk
    from {vectors} v
    where $3::halfvec is not null and v.tenant = $1 and v.model = $4 and {where_vectors}
    order by v.embedding <=> $3::halfvec
    limit $5
), matched as materialized (
    select c.item_id, c.chunk, c.words, c.tsv
    from {chunks} c
    where c.tenant = $1 and {where_chunks} and c.tsv @@ (select query from any_lexeme)
), hit as materialized (
    select c.item_id, c.chunk, l.place,
           ts_rank('{weights}', c.tsv, l.query) / {norm} as tf
    from matched c join lexeme l on c.tsv @@ l.query
), rarity as materialized (
    select l.place, count(h.place) as df,
           ln(1 + (select documents from searched) / greatest(count(h.place), 1)::float8) as idf
    from lexeme l left join hit h on h.place = l.place
    group by l.place
), by_text as materialized (
    select h.item_id, h.chunk
    from hit h join rarity r on r.place = h.place
    group by h.item_id, h.chunk
    order by sum(r.idf * h.tf) desc, h.item_id desc, h.chunk
    limit $5
), candidate as materialized (
    select item_id, chunk from by_vector union select item_id, chunk from by_text
), evidence as (
    select c.item_id, c.chunk, c.start, c.stop, c.words, i.scope, i.created_at, i.occurred_at, i.session_id, i.seq,
           i.speaker, {columns},
           (select 1 - (v.embedding <=> $3::halfvec) from {vectors} v
            where v.tenant = $1 and v.item_id = c.item_id and v.chunk = c.chunk and v.model = $4) as cosine,
           (select array_agg(ts_rank('{weights}', c.tsv, l.query) / {norm} order by l.place)
            from lexeme l)::float4[] as tf,
           (select count(*) from {chunks} n where n.tenant = $1 and n.item_id = c.item_id) as chunks
    from candidate k
    join {chunks} c on c.tenant = $1 and c.item_id = k.item_id and c.chunk = k.chunk
    join {items} i on i.tenant = $1 and i.id = k.item_id
)
select (select documents from searched) as documents,
       (select array_agg(word order by place) from lexeme) as lexemes,
       (select array_agg(df order by place) from rarity) as df,
       e.*
from (select 1) always left join evidence e on true
"""


def search_sql(
    *, items: str, chunks: str, vectors: str, columns: str, where_chunks: str, where_vectors: str
) -> str:
    """A store's statement; every argument is a constant of the code. It answers at least one row, of which
    `item_id` is null when nothing was found."""
    return _SEARCH.format(
        items=items,
        chunks=chunks,
        vectors=vectors,
        columns=columns,
        where_chunks=where_chunks,
        where_vectors=where_vectors,
        weights=FIELD_WEIGHTS,
        norm=LENGTH_NORM,
        max_lexemes=MAX_LEXEMES,
    )
