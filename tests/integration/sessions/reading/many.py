"""A thousand sessions of 500 objects each, by statements that take seconds."""

from __future__ import annotations

from uuid import UUID

import asyncpg

NAME, TENANT = "many_sessions", "t"
SESSIONS, OBJECTS = 1_000, 500
SESSION = UUID("00000000-0000-4000-8000-000000000007")
# What the foreign keys would compare for each row is right by construction.
_UNCHECKED = "set session_replication_role = replica"
_LOAD_SESSIONS = """
insert into sessions.sessions (tenant, id, external_id, scope, marks, written_by)
select $1, ('00000000-0000-4000-8000-' || lpad(n::text, 12, '0'))::uuid, n::text, 'shared', 'b2c3d4', 'plans'
from generate_series(1, $2::int) n
"""
_LOAD_OBJECTS = """
insert into sessions.semantic_objects (tenant, session_id, object_type, source_key, segment, content_full, content_hash,
    stub, current_fidelity, sent_fidelity, place, created_turn, last_accessed_turn, tokens_l0, tokens_l3)
select $1, s.id, 'file_context', 'file' || n % 10, n, 'word' || n % 40, sha256(n::text::bytea), 'line ' || n, n % 5,
       n % 5, n, 0, 0, 100, 10
from sessions.sessions s cross join generate_series(1, $2::int) n where s.tenant = $1 order by n, s.id
"""
_LOAD_CHUNKS = """
insert into sessions.object_chunks (tenant, scope, item_id, chunk, chunks, start, stop, words, tsv)
select tenant, 'session:' || session_id, number, 0, 1, 0, 6, 1, to_tsvector('english', content_full)
from sessions.semantic_objects where tenant = $1
"""
# A vector has a kilobyte: each session has some.
_LOAD_VECTORS = """
insert into sessions.object_vec (tenant, scope, item_id, chunk, model, embedding)
select tenant, 'session:' || session_id, number, 0, 'm', array_fill(0.1::real, array[512])::halfvec
from sessions.semantic_objects where tenant = $1 and place % 25 = 0
"""
_ANALYZE = "analyze sessions.sessions, sessions.semantic_objects, sessions.object_chunks, sessions.object_vec"


async def fill(admin: asyncpg.Connection[asyncpg.Record]) -> None:
    await admin.execute(_UNCHECKED)
    await admin.execute(_LOAD_SESSIONS, TENANT, SESSIONS)
    await admin.execute(_LOAD_OBJECTS, TENANT, OBJECTS)
    await admin.execute(_LOAD_CHUNKS, TENANT)
    await admin.execute(_LOAD_VECTORS, TENANT)
    await admin.execute(_ANALYZE)
