"""The one search statement of a store: both arms, the evidence of their union, and word statistics."""

from __future__ import annotations

import hashlib

# Weights of the words of a chunk, in ts_rank's order {D, C, B, A}: A its own text, B who and when, C the
# end of the previous turn of its session. ts_rank of one lexeme saturates with its count, in [0, 1].
FIELD_WEIGHTS = "{0, 0.4, 1, 1}"
# Long chunks match by chance: an absolute norm, so that stores stay comparable and none needs its average.
LENGTH_NORM = "greatest(1, sqrt({0}.words / 20.0))"
MAX_LEXEMES = 64
# A word of a query may have 2,046 bytes, and here it begins with the key of its scope.
MAX_WORD_BYTES = 2_000

# $1 tenant, $2 query, $3 vector or null, $4 model, $5 depth, $6 keys of the scopes, $7 chunks in the scopes where
# known, else null and they are counted, $8 common words of the scopes with $9 how many chunks hold each; from $10
# on what {narrow} uses. df counts inside what was searched. A common word says little and is held by many: rows are
# matched by the others, and by the two rarest of the common ones, and then scored by every word.
_SEARCH = """
with lexeme as materialized (
    select l.word, l.place::int, common.df,
           ('''' || replace(replace(l.word, '\\', '\\\\'), '''', '''''') || '''')::tsquery as query
    from unnest(array(
        select word from unnest(tsvector_to_array(to_tsvector('english', $2))) with ordinality w(word, place)
        where octet_length(word) <= {max_word_bytes} order by place limit {max_lexemes}
    )) with ordinality l(word, place)
    left join unnest($8::text[], $9::bigint[]) common(word, df) on common.word = l.word
), any_word as materialized (
    select string_agg(
        '''' || replace(replace(k || ':' || l.word, '\\', '\\\\'), '''', '''''') || '''', ' | ')::tsquery as query
    from lexeme l, unnest($6::text[]) k
    where l.df is null or l.place in (select c.place from lexeme c where c.df is not null order by c.df limit 2)
), searched as materialized (
    select coalesce($7::bigint, (select count(*) from {chunks} c where {count})) as documents
), by_vector as materialized (
    select {over} v.item_id, v.chunk, 1 - (v.embedding <=> $3::halfvec) as cosine
    from {vectors} v
    where $3::halfvec is not null and {narrow_vectors}
    order by {nearest}
    {first}
), matched as materialized (
    select m.item_id, m.chunk, m.words, m.tsv
    from {chunks} m
    where m.scoped @@ (select query from any_word) and m.tenant = $1 and {narrow_chunks}
), hit as materialized (
    select m.item_id, m.chunk, l.place, ts_rank('{weights}', m.tsv, l.query) / {norm_matched} as tf
    from matched m join lexeme l on m.tsv @@ l.query
), rarity as materialized (
    select l.place, coalesce(l.df, h.df, 0) as df,
           ln(1 + (select documents from searched) / greatest(coalesce(l.df, h.df), 1)::float8) as idf
    from lexeme l left join (select place, count(*) as df from hit group by place) h on h.place = l.place
), best_text as materialized (
    select {over} h.item_id, h.chunk,
           sum(((select array_agg(r.idf order by r.place) from rarity r))[h.place] * h.tf) as score
    from hit h group by h.item_id, h.chunk
    order by score desc, h.item_id desc, h.chunk
    {first}
), candidate as materialized (
    select item_id, chunk, cosine from by_vector
    union all
    select t.item_id, t.chunk,
           (select 1 - (v.embedding <=> $3::halfvec) from {vectors} v
            where v.tenant = $1 and v.item_id = t.item_id and v.chunk = t.chunk and v.model = $4)
    from best_text t
    where not exists (select 1 from by_vector v where v.item_id = t.item_id and v.chunk = t.chunk)
), evidence as (
    select k.item_id, k.chunk, k.cosine, said.places, said.tfs, c.chunks, c.start, c.stop, c.words,
           i.scope, i.created_at, i.occurred_at, i.session_id, i.seq, i.speaker, i.user_id, {columns}
    from candidate k
    join {chunks} c on c.tenant = $1 and c.item_id = k.item_id and c.chunk = k.chunk
    join {items} i on i.tenant = $1 and i.id = k.item_id
    cross join lateral (
        select array_agg(l.place) as places,
               array_agg((ts_rank('{weights}', c.tsv, l.query) / {norm_found})::float4) as tfs
        from lexeme l where c.tsv @@ l.query
    ) said
)
select (select documents from searched) as documents,
       (select array_agg(word order by place) from lexeme) as lexemes,
       (select array_agg(df order by place) from rarity) as df,
       e.*
from (select 1) always left join evidence e on true
"""

# An arm's first $5 rows; for some users those that they may see, looked up in their order until there are enough.
_FIRST = "limit $5"
_OVER = "s.* from (select"
_FIRST_SEEN = """offset 0) s
    where (select u.user_id is null or u.user_id = any({users}) from {items} u where u.tenant = $1 and u.id = s.item_id)
    limit $5"""

# The planner does not know what pgvector's filtered scans cost: each form below has only one index to choose.
_EXACT = "(v.embedding <=> $3::halfvec) + 0.0"
_APPROXIMATE = "v.embedding <=> $3::halfvec"


def scope_key(tenant: str, scope: str) -> str:
    """What the indexed words of a scope begin with: 32 bits, since a collision only costs a recheck."""
    return hashlib.sha256(f"{tenant}\x1f{scope}".encode()).hexdigest()[:8]


def search_sql(
    *,
    items: str,
    chunks: str,
    vectors: str,
    columns: str,
    narrow: str,
    count: str,
    approximate: bool = False,
    users: str | None = None,
) -> str:
    """A store's statement; every argument is a constant of the code. `narrow` is a condition on `{0}`, the chunk
    or vector table's alias; `count` one on `c`. With `approximate` the vector arm goes through HNSW. With `users`, a
    parameter, nothing is found that is about other users; words are as rare as in all that was searched.

    It answers at least one row, of which `item_id` is null when nothing was found.
    """
    tenant = "v.tenant is not distinct from $1" if approximate else "v.tenant = $1"
    return _SEARCH.format(
        items=items,
        chunks=chunks,
        vectors=vectors,
        columns=columns,
        narrow_chunks=narrow.format("m"),
        narrow_vectors=f"{tenant} and v.model = $4 and {narrow.format('v')}",
        nearest=_APPROXIMATE if approximate else _EXACT,
        over="" if users is None else _OVER,
        first=_FIRST if users is None else _FIRST_SEEN.format(users=users, items=items),
        count=count,
        weights=FIELD_WEIGHTS,
        norm_matched=LENGTH_NORM.format("m"),
        norm_found=LENGTH_NORM.format("c"),
        max_lexemes=MAX_LEXEMES,
        max_word_bytes=MAX_WORD_BYTES,
    )
