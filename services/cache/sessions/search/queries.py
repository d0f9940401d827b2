"""The SQL of search over the objects of a session."""

from __future__ import annotations

from uuid import UUID

import asyncpg

from services.cache.sessions.access import REACHED, VISIBLE, Reach
from services.cache.sessions.search.schemas import NumberedObject
from shared.database.postgres import Connection
from shared.search.sql import ONLY, UNTIL, Source, search_forms
from shared.search.store import Scope

_COLUMNS = """i.id, i.session_id, i.object_type, i.source_tool, i.source_key, i.tags, i.current_fidelity, i.stub,
           i.tokens_l0, i.start_line, i.end_line, i.created_at,
           substr(i.content_full, c.start + 1, c.stop - c.start) as passage,
           (select n.number from sessions.semantic_objects n
            where n.tenant = :tenant and n.id = i.superseded_by) as superseded_by"""
_WITHIN = f"scope = :scope and {ONLY} and {UNTIL}"
_OBJECTS = Source(
    items="sessions.semantic_objects",
    key="number",
    chunks="sessions.searchable_objects",
    by_words="sessions.searchable_objects",
    vectors="sessions.object_vec",
    compared="sessions.searchable_object_vectors",
    columns=_COLUMNS,
    within=_WITHIN,
    counted="tenant = :tenant and scope = :scope",
    # Whoever searches reaches the session, and so all that it holds.
    visible="true",
)
# What a host does not see whole: neither where it was sent nor where it rose. Replaced versions are left out.
_SHRUNK = """item_id in (
        select o.number from sessions.semantic_objects o
        where o.tenant = :tenant and o.session_id = substr(:scope, 9)::uuid and o.superseded_by is null
          and o.sent_fidelity > 0 and coalesce(o.risen_fidelity, 4) > 0)"""
SEARCH = search_forms(_OBJECTS)
_VISIBLE = f"""exists (
        select from sessions.sessions s where s.tenant = :tenant and s.id = u.session_id
          and {REACHED.format(agent=":reader", missions=":missions", users=":users")})"""
_SCOPE = "(select s.scope from sessions.sessions s where s.tenant = :tenant and s.id = i.session_id) as scope"
STATED = _OBJECTS._replace(
    columns=f"{_COLUMNS}, {_SCOPE}", text="i.content_full", within="true", visible=_VISIBLE
)
SEARCH_SHRUNK = search_forms(_OBJECTS._replace(within=f"{_WITHIN} and {_SHRUNK}"))


def session_scope(tenant: str, session_id: UUID) -> Scope:
    name = f"session:{session_id}"
    return Scope(tenant, name, indexed_as=[name])


_NUMBERED = ", ".join(f"o.{name}" for name in NumberedObject.__struct_fields__ if name != "content")
# $5 the number.
NUMBERED = f"""
select {_NUMBERED}, o.content_full as content
from sessions.semantic_objects o join sessions.sessions s on s.tenant = $1 and s.id = o.session_id
where o.tenant = $1 and o.number = $5 and {VISIBLE}
"""


async def numbered(connection: Connection, tenant: str, reach: Reach, number: int) -> asyncpg.Record | None:
    """Of a session within reach."""
    return await connection.fetchrow(NUMBERED, tenant, *reach, number)
