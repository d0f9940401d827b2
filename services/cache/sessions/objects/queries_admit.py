"""The SQL that stores what was admitted, in one statement. Its callers hold the session."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import msgspec

from services.cache.sessions.search.words import IndexedObject
from shared.database.postgres import Connection


class NewObject(msgspec.Struct, kw_only=True):
    """The columns of an object that a write states."""

    id: UUID
    object_type: str
    source_tool: str | None
    source_key: str | None
    segment: int
    content_full: str
    stub: str
    fault_when: list[str]
    tags: list[str]
    place: int
    created_turn: int
    last_accessed_turn: int
    tokens_l0: int
    tokens_l3: int
    source_turn_start: int | None
    source_turn_end: int | None
    start_line: int | None = None
    end_line: int | None = None
    key_entities: list[str] = []


class Score(msgspec.Struct, kw_only=True):
    """Why an object was admitted. Every part of the score is from 0 to 1."""

    object_id: UUID | None
    admitted: bool
    score_total: float
    score_type: float
    score_novelty: float
    score_utility: float
    score_recency: float
    threshold: float
    content_preview: str


class Edge(msgspec.Struct, frozen=True):
    source: UUID
    target: UUID
    relationship: str


class Stored(msgspec.Struct, kw_only=True):
    """What an admission adds to its session."""

    objects: list[NewObject]
    words: list[IndexedObject]
    """Of the objects."""
    scores: list[Score]
    """Of the objects, and of what was rejected."""
    edges: list[Edge]


_STATED = ", ".join(NewObject.__struct_fields__)
_SCORED = ", ".join(Score.__struct_fields__)
# $3 Stored, $4 the model of vectors, $5 the fewest tokens that are worth a summary, $6 what the event says. The keys
# between the tables are compared when all of it is there.
ADMIT = f"""
with stored as materialized (
    select r.objects, r.words, r.scores, r.edges
    from jsonb_to_record($3) r(objects jsonb, words jsonb, scores jsonb, edges jsonb)
), added as (
    insert into sessions.semantic_objects (tenant, session_id, content_hash, {_STATED})
    select $1, $2, sha256(convert_to(r.content_full, 'UTF8')),
           {", ".join(f"r.{name}" for name in NewObject.__struct_fields__)}
    from stored s
    cross join lateral jsonb_array_elements(s.objects) g(body)
    cross join lateral jsonb_populate_record(null::sessions.semantic_objects, g.body) r
    returning id, number, place, tokens_l0
), counted as (
    select max(place) as last, count(*) as objects from added
), grown as (
    update sessions.sessions s
    set last_place = coalesce(c.last, s.last_place),
        total_objects = s.total_objects + c.objects, last_active_at = statement_timestamp()
    from counted c where s.tenant = $1 and s.id = $2
    returning s.scope, s.mission_id, s.agent_name
), scored as (
    insert into sessions.admission_scores (tenant, session_id, {_SCORED})
    select $1, $2, {", ".join(f"r.{name}" for name in Score.__struct_fields__)}
    from stored s
    cross join lateral jsonb_array_elements(s.scores) g(body)
    cross join lateral jsonb_populate_record(null::sessions.admission_scores, g.body) r
), related as (
    insert into sessions.object_relationships (tenant, session_id, source_id, target_id, relationship)
    select $1, $2, r.source, r.target, r.relationship
    from stored s
    cross join lateral jsonb_to_recordset(s.edges) r(source uuid, target uuid, relationship text)
    on conflict (tenant, source_id, target_id, relationship) do nothing
), given as materialized (
    select a.number, w.starts, w.stops, w.chunks, w.configs, w.terms, w.head
    from stored s
    cross join lateral jsonb_array_elements(s.words) g(body)
    cross join lateral jsonb_to_record(g.body) w(
        id uuid, starts int[], stops int[], chunks text[], configs text[], terms text[], head text)
    join added a on a.id = w.id
), worded as (
    insert into sessions.object_chunks (tenant, scope, item_id, chunk, chunks, start, stop, words, tsv)
    select $1, 'session:' || $2::text, g.number, c.chunk, cardinality(g.chunks), c.start, c.stop, c.words, c.tsv
    from given g
    cross join lateral cache.chunk_words(null, g.starts, g.stops, g.chunks, g.configs, g.terms, g.head, null) c
), queued as (
    insert into cache.index_queue (tenant, store, scope, item_id, model)
    select $1, 'session_objects', 'session:' || $2::text, a.number, $4 from added a
    union all
    select $1, 'object_summaries', g.scope, a.number, 'object_summaries'
    from added a cross join grown g where a.tokens_l0 >= $5
), told as (
    insert into timeline.events (tenant, scope, kind, mission_id, agent_name, session_id, payload)
    select $1, g.scope, 'session_objects', g.mission_id, g.agent_name, $2::text, $6 from grown g
)
select number from added
"""


async def admit(
    connection: Connection,
    tenant: str,
    session_id: UUID,
    stored: Stored,
    *,
    model: str,
    summarized_from: int,
    payload: dict[str, Any],
) -> list[int]:
    """Their words are found at once; vectors and summaries follow from the queue. Returns their numbers."""
    given = (stored, model, summarized_from, payload)
    return [row["number"] for row in await connection.fetch(ADMIT, tenant, session_id, *given)]
