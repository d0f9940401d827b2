"""Code for which a single step of its parser takes seconds or minutes."""

from __future__ import annotations

import asyncio

from shared.database.postgres import Connection
from tests.integration.sessions.calls import began, ok, said, summarized
from tests.support.cluster import Client

# Long enough for a parser that holds the interpreter to take more than the deadline of a write.
LENGTH = 48_000


async def test_others_are_served_while_it_is_cut(client: Client, sql: Connection) -> None:
    session, other = await began(client), await began(client)
    text = "a<" * (LENGTH // 2)
    body = {"content": text, "object_type": "file_context", "source_key": "A.java"}
    cut = asyncio.create_task(ok(client, "POST", f"{session}/objects", body))
    served = 0
    while not cut.done():
        await said(client, other, "Is anybody there?")
        served += 1
    parts = [
        (await ok(client, "GET", f"{session}/objects/{part['id']}"))["data"]["content"]
        for part in (await cut)["objects"]
    ]
    assert "".join(parts) == text
    # A service that parses it itself answers neither within their deadlines.
    assert served
    await summarized(sql, session)
