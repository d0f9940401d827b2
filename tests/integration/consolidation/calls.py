"""Calls that the tests of consolidation share."""

from __future__ import annotations

from typing import Any

from shared.database.postgres import Connection
from tests.integration.sessions.calls import began, ok
from tests.support.calls import Json
from tests.support.cluster import Client

CONSOLIDATE = "/api/memory/consolidate"
RUNS = "/api/memory/consolidations"
USER = "Ana"


async def talked(client: Client, *texts: str, **more: Any) -> str:
    """The path of a new session with Ana, who said this, a minute apart."""
    session = await began(client, **{"user_id": USER, **more})
    await say(client, session, *texts)
    return session


async def say(client: Client, session: str, *texts: str, role: str = "user", day: int = 1) -> None:
    messages = [
        {"role": role, "text": text, "occurred_at": f"2026-03-{day:02}T10:{minute:02}:00Z"}
        for minute, text in enumerate(texts)
    ]
    await ok(client, "POST", f"{session}/events", {"messages": messages})


async def consolidated(client: Client, session: str, **more: Any) -> Json:
    body = {"session_id": session.rpartition("/")[2], **more}
    answer: Json = await ok(client, "POST", CONSOLIDATE, body)
    return answer


async def changes(client: Client, run_id: int) -> list[Json]:
    page = await ok(client, "GET", f"{RUNS}/{run_id}/changes")
    data: list[Json] = page["data"]
    return data


async def facts(client: Client, entity: str = USER, **more: Any) -> list[Json]:
    page = await ok(client, "POST", "/api/kg/query", {"entity": entity, **more})
    data: list[Json] = page["data"]
    return data


_ROWS = """
select id, scope, user_id, subject, predicate, object, subject_key, object_key, valid_from, valid_to, single,
       source_kind, source_claim, agent_name, written_by, closed_by
from memory.facts where tenant = $1 and superseded_at is null order by id
"""
_MEMORIES = """
select id, scope, kind, content, content_hash, user_id, due_at, status from memory.long_term
where tenant = $1 order by id
"""
_NAMES = "select scope, alias_key, entity_key from memory.entity_aliases where tenant = $1 order by alias_key"


async def believed(sql: Connection, tenant: str) -> dict[str, list[dict[str, Any]]]:
    """What memory holds of a tenant, row by row, but for when it was recorded."""
    return {
        name: [dict(row) for row in await sql.fetch(query, tenant)]
        for name, query in (("facts", _ROWS), ("memories", _MEMORIES), ("names", _NAMES))
    }
