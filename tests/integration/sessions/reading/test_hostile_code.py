"""Code that its grammar's parser takes minutes for, within one of its steps."""

from __future__ import annotations

import asyncio

import pytest

from shared.database.postgres import Connection
from tests.integration.sessions.calls import began, ok, said, summarized
from tests.support.cluster import Client


@pytest.mark.parametrize(("unit", "path"), [("a<", "A.java"), ("<a>'(", "a.cpp"), ("*%yield ", "a.rs")])
async def test_it_is_cut_by_lines_and_nobody_waits(
    client: Client, sql: Connection, unit: str, path: str
) -> None:
    session, other = await began(client), await began(client)
    text = "".join(f"{unit * 100}{number}\n" for number in range(90_000 // (100 * len(unit))))
    body = {"content": text, "object_type": "file_context", "source_key": path}
    made = asyncio.create_task(ok(client, "POST", f"{session}/objects", body))
    while not made.done():
        await said(client, other, "Is anybody there?")
    parts = [
        (await ok(client, "GET", f"{session}/objects/{part['id']}"))["data"]["content"]
        for part in (await made)["objects"]
    ]
    assert "".join(parts) == text
    await summarized(sql, session)
