"""Calls that the tests of sessions share."""

from __future__ import annotations

from typing import Any

from shared.database.postgres import Connection
from tests.support.calls import Json, until
from tests.support.cluster import Client

SESSIONS = "/api/sessions"


async def ok(client: Client, method: str, path: str, body: Any = None) -> Any:
    answer = await client.call(method, path, body)
    assert answer.status < 300, answer
    return answer.body


async def began(client: Client, **more: Any) -> str:
    """The path of a new session."""
    made = await ok(client, "POST", SESSIONS, {"agent_name": "scout", **more})
    assert made["created"]
    return f"{SESSIONS}/{made['data']['id']}"


async def said(client: Client, session: str, *texts: str) -> Json:
    messages = [{"role": "user", "content": text} for text in texts]
    answer: Json = await ok(client, "POST", f"{session}/events", {"messages": messages})
    return answer


async def admitted(client: Client, session: str, content: str, **more: Any) -> Json:
    """The only part of it."""
    body = {"content": content, "object_type": "file_context", **more}
    answer = await ok(client, "POST", f"{session}/objects", body)
    (part,) = answer["objects"]
    kept: Json = part
    return kept


async def shown(client: Client, session: str) -> Json:
    context: Json = await ok(client, "GET", f"{session}/context")
    return context


async def pressure(client: Client, session: str) -> Json:
    found: Json = await ok(client, "GET", f"{session}/pressure")
    return found


async def summarized(sql: Connection, session: str) -> None:
    """Once all of its objects have the summaries that they will have."""

    async def none_waits() -> None:
        assert not await sql.fetchval(
            "select exists (select from sessions.semantic_objects o join cache.index_queue q"
            " on q.tenant = o.tenant and q.store = 'object_summaries' and q.item_id = o.number"
            " where o.session_id = $1)",
            session.removeprefix(f"{SESSIONS}/"),
        )

    await until(none_waits)


async def assembled(client: Client, query: str, **more: Any) -> Json:
    body = {"query": query, "caller": "scout", **more}
    answer: Json = await ok(client, "POST", "/api/context/assemble", body)
    return answer
