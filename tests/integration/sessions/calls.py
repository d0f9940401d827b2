"""Calls that the tests of sessions share."""

from __future__ import annotations

from typing import Any

from tests.support.calls import Json
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
