"""The SQL of questions."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

import asyncpg
import msgspec

from services.cache.sessions.paging.passages import Word
from shared.database.postgres import Connection

# An object is about what its line names.
_IN_STUB = 1.5
# $3 the words with what each is worth, $4 an object or null, $5 limit. It reads each text once: words that few objects
# hold weigh more. The current version of a part answers, and what was evicted does, too.
BEST = f"""
with word as materialized (
    select w.text, w.worth from jsonb_to_recordset($3) w(text text, worth real)
), held as materialized (
    select o.id, o.last_accessed, o.tokens_l0, o.current_fidelity, h.words, h.titles
    from sessions.semantic_objects o
    cross join lateral (select lower(o.content_full) as content, lower(o.stub) as stub offset 0) t
    cross join lateral (
        select array_agg(w.text) as words,
               array_agg(w.text) filter (where position(w.text in t.stub) > 0) as titles
        from word w where position(w.text in t.content) > 0
    ) h
    where o.tenant = $1 and o.session_id = $2 and o.superseded_by is null and ($4::uuid is null or o.id = $4)
      and h.words is not null
), weighed as (
    select w.text, w.worth * ln(1 + (select count(*) from held)::float / greatest(1, count(h.id))) as weight
    from word w left join held h on w.text = any(h.words)
    group by w.text, w.worth
)
select h.id, h.tokens_l0, h.current_fidelity,
       sum(w.weight) / (select sum(weight) from weighed) as share
from held h join weighed w on w.text = any(h.words)
group by h.id, h.last_accessed, h.tokens_l0, h.current_fidelity, h.titles
order by sum(case when w.text = any(h.titles) then {_IN_STUB} * w.weight else w.weight end) desc,
         h.last_accessed desc, h.id
limit $5
"""


class _Weighed(msgspec.Struct):
    text: str
    worth: float


async def best(
    connection: Connection,
    tenant: str,
    session_id: UUID,
    words: Sequence[Word],
    *,
    object_id: UUID | None = None,
    limit: int,
) -> list[asyncpg.Record]:
    """Objects that hold most of the words by how rare they are, with the share of the words' weight that each holds."""
    weighed = [_Weighed(word.text, word.worth) for word in words]
    rows: list[asyncpg.Record] = await connection.fetch(BEST, tenant, session_id, weighed, object_id, limit)
    return rows


# $3 objects in their order, $4 characters. Texts beyond so many characters are left out, but for the first.
TEXTS = """
select * from (
    select o.id, o.object_type, o.source_key, o.start_line, o.current_fidelity, o.tokens_l0, o.content_full, g.place,
           sum(length(o.content_full)) over (order by g.place) - length(o.content_full) as before
    from unnest($3::uuid[]) with ordinality g(id, place)
    join sessions.semantic_objects o on o.tenant = $1 and o.id = g.id
    where o.session_id = $2
) texts
where before = 0 or before + length(content_full) <= $4 order by place
"""


async def texts(
    connection: Connection, tenant: str, session_id: UUID, objects: Sequence[UUID], characters: int
) -> list[asyncpg.Record]:
    rows: list[asyncpg.Record] = await connection.fetch(TEXTS, tenant, session_id, list(objects), characters)
    return rows


class Answered(msgspec.Struct, kw_only=True):
    """The columns of a question that was answered."""

    object_id: UUID
    turn_number: int
    question: str
    answer: str
    answer_tokens: int
    avoided_tokens: int
    latency_ms: int


# $3 an Answered.
ANSWERED = """
with asked as materialized (
    select * from jsonb_to_record($3) r(object_id uuid, turn_number int, question text, answer text,
        answer_tokens int, avoided_tokens int, latency_ms int)
), object as (
    update sessions.semantic_objects o set micro_fault_count = o.micro_fault_count + 1
    from asked a where o.tenant = $1 and o.session_id = $2 and o.id = a.object_id
    returning o.id, encode(o.content_hash, 'hex') as content_hash
), kept as (
    insert into sessions.fault_history
        (tenant, session_id, object_id, fault_type, turn_number, content_hash, question, answer, answer_tokens,
         avoided_tokens, latency_ms)
    select $1, $2, o.id, 'micro_fault', a.turn_number, o.content_hash, a.question, a.answer, a.answer_tokens,
           a.avoided_tokens, a.latency_ms
    from asked a join object o on o.id = a.object_id
)
update sessions.sessions s
set total_micro_faults = s.total_micro_faults + 1, last_active_at = statement_timestamp()
from object o where s.tenant = $1 and s.id = $2
"""


async def keep(connection: Connection, tenant: str, session_id: UUID, answered: Answered) -> None:
    """Counts it for the object and the session."""
    await connection.execute(ANSWERED, tenant, session_id, answered)
